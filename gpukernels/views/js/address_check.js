// Checks a link where no page is: on the record of its figure, as text.
import { problemOf, readAddress } from "./address.js";
import { fieldsOf } from "./words.js";

// Why the figure cannot show what an address says, or "". Only a drawing knows the lists beside its steps.
export function problemOfText(views, data, address) {
  const record = JSON.parse(data),
    read = readAddress(address);
  if (!read) return "it is no address of a figure, such as #fig-name?run=fine&step=8";
  let opened = null;
  return problemOf(record, read.state, (k) => {
    opened = opened || views[record.view].open(record, () => false);
    return fieldsOf(
      opened.choose(
        k,
        () => {},
        () => {},
      ),
    );
  });
}

// A link that needs a server says so in a page that is opened as a file, and does not lead to an empty page.
function startServed() {
  if (location.protocol !== "file:") return;
  for (const link of document.querySelectorAll("a.served")) {
    const command = document.createElement("code");
    command.textContent = "make read";
    const words = document.createElement("span");
    words.append(link.textContent, ", after ", command);
    link.replaceWith(words);
  }
}

startServed();

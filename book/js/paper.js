// Paper is white, so a page is printed in the light theme.
function startPaper() {
  const { dataset } = document.documentElement;
  let before = null;
  const begin = () => {
    if (before !== null || dataset.theme !== "dark") return;
    before = dataset.theme;
    dataset.theme = "light";
  };
  const end = () => {
    if (before === null) return;
    dataset.theme = before;
    before = null;
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  document.addEventListener("click", (event) => event.target.closest("[data-print]") && print());
  matchMedia("print").addEventListener("change", (media) => (media.matches ? begin() : end()));
}

startPaper();

// Space plays and pauses, left and right step, wherever in a figure the focus is.
//
// Up and down stay the page's: they scroll it, and a figure that was clicked would not let go of them. Whatever has its own
// use for a key keeps it: lists and sliders, and a picture whose marks are asked by arrow keys.

const OWN_SPACE = "a, button, input, select, summary, textarea";
const OWN_ARROWS = "input, select, textarea";

// `play`, `back` and `forth` are the buttons of the figure.
export function playByKeys(figure, play, back, forth) {
  // So that a click anywhere in the figure gives it the focus.
  figure.setAttribute("tabindex", "-1");
  // JupyterLab has uses of its own for these keys.
  figure.setAttribute("data-lm-suppress-shortcuts", "true");
  figure.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const button = { " ": play, ArrowLeft: back, ArrowRight: forth }[event.key];
    const own = event.key === " " ? OWN_SPACE : OWN_ARROWS;
    if (!button || event.target.closest(own) || !button.getClientRects().length) return;
    event.preventDefault();
    button.click();
  });
}

// Space plays and pauses, left and right step, wherever the focus is in a figure.
//
// Up and down are left to the page, so that they scroll it even after a click on a figure. Page Up and Page Down,
// which a presenter's remote control sends, step a figure that fills the window. Elements with their own use for a key
// keep it: lists, sliders, and a picture whose marks are inspected by arrow keys.

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
    const pages = figure.classList.contains("gk-wide") ? { PageUp: back, PageDown: forth } : {};
    const button = { " ": play, ArrowLeft: back, ArrowRight: forth, ...pages }[event.key];
    // A remote control has no other key, so a slider that was dragged does not keep this one.
    const own = event.key === " " ? OWN_SPACE : pages[event.key] ? "textarea" : OWN_ARROWS;
    if (!button || event.target.closest(own) || button.closest("[hidden]")) return;
    event.preventDefault();
    button.click();
  });
}

// A field for Python, made by CodeMirror, which is loaded when the first one is opened.
import { loadBeside } from "./engine.js";

let library = null;

// Marks the line of an error.
function markOf({ Decoration, EditorView, StateEffect, StateField }) {
  const set = StateEffect.define();
  const field = StateField.define({
    create: () => Decoration.none,
    update(marks, transaction) {
      let now = transaction.docChanged ? Decoration.none : marks;
      for (const effect of transaction.effects) {
        if (!effect.is(set)) continue;
        const { doc } = transaction.state;
        const at = effect.value > 0 && effect.value <= doc.lines ? doc.line(effect.value).from : -1;
        now = at < 0 ? Decoration.none : Decoration.set([Decoration.line({ class: "gk-wrong-line" }).range(at)]);
      }
      return now;
    },
    provide: (own) => EditorView.decorations.from(own),
  });
  return { set, field };
}

// The book's colors, by classes of live.css.
function colorsOf({ HighlightStyle, tags }) {
  return HighlightStyle.define([
    { tag: tags.keyword, class: "gk-code-keyword" },
    { tag: [tags.string, tags.special(tags.string)], class: "gk-code-string" },
    { tag: [tags.number, tags.bool, tags.null], class: "gk-code-number" },
    { tag: tags.comment, class: "gk-code-comment" },
    { tag: tags.definition(tags.function(tags.variableName)), class: "gk-code-name" },
    { tag: tags.meta, class: "gk-code-meta" },
  ]);
}

// Puts an editor with `text` into `place`. `onChange()` is called after each change, `onRun()` by Ctrl or ⌘ and Enter, and
// `onLeave()` by Escape, since Tab indents.
export async function editorIn(place, text, label, { onChange, onRun, onLeave }) {
  library ||= loadBeside("codemirror.js", "codemirror");
  const lib = await library;
  const mark = markOf(lib);
  const indent = [
    { key: "Tab", run: lib.indentMore, shift: lib.indentLess },
    { key: "Mod-Enter", run: () => (onRun(), true) },
    { key: "Escape", run: () => (onLeave(), true) },
  ];
  const view = new lib.EditorView({
    doc: text,
    parent: place,
    extensions: [
      lib.lineNumbers(),
      lib.history(),
      lib.indentOnInput(),
      lib.bracketMatching(),
      lib.indentUnit.of("    "),
      lib.python(),
      lib.syntaxHighlighting(colorsOf(lib)),
      mark.field,
      lib.keymap.of([...indent, ...lib.defaultKeymap, ...lib.historyKeymap]),
      lib.EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
      lib.EditorView.updateListener.of((update) => update.docChanged && onChange()),
    ],
  });
  return {
    text: () => view.state.doc.toString(),
    // Writes another text, as one change that can be undone.
    write: (other) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } }),
    mark(line) {
      const effects = [mark.set.of(line)];
      if (line > 0 && line <= view.state.doc.lines)
        effects.push(lib.EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "center" }));
      view.dispatch({ effects });
    },
    focus: () => view.focus(),
  };
}

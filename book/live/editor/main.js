// The parts of CodeMirror 6 that the pages use, as one global `codemirror`.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export {
  Decoration,
  EditorState,
  EditorView,
  HighlightStyle,
  StateEffect,
  StateField,
  bracketMatching,
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  indentOnInput,
  indentUnit,
  keymap,
  lineNumbers,
  python,
  syntaxHighlighting,
  tags,
};

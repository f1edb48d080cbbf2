// The words of the page, in the languages that it speaks.

const ENGLISH = {
  tagline: "Translations from this machine",
  key: "API key",
  useKey: "Use it",
  from: "From",
  to: "To",
  swap: "Swap the languages",
  sourceText: "Text to translate",
  typeHere: "Type or paste a text",
  translation: "Translation",
  clear: "Clear",
  copy: "Copy",
  copied: "Copied",
  look: "Look inside",
  lookTitle: "Look inside: open the live view of this translation in a new tab",
  lookInstall: (command) => `To look inside translations, install the live view (${command}) and start the service again.`,
  hint: "Click a word of the translation to see other translations. Point at a word to see which words it translates. Tinted words are uncertain.",
  history: "Earlier translations",
  historyHere: "Kept only in this browser, until it is closed.",
  forget: "Forget all",
  apis: "Programs can use this address as their LibreTranslate or DeepL server.",
  alternatives: "Other translations of this word",
  noAlternatives: "No other translation",
  through: (from, to, via) => `${from} is translated into ${to} through ${via}, without a glossary and without other words to choose from.`,
  auto: "Detect language",
  detected: (name) => `Detected: ${name}`,
  characters: (count) => (count === 1 ? "1 character" : `${count.toLocaleString("en")} characters`),
  working: "Translating …",
  failed: "The service cannot be reached",
  chooseFile: "Translate files",
  dropFile: "or drop them anywhere on this page",
  files: "Files",
  sending: "Sending …",
  save: (name) => `Save ${name}`,
  remove: "Remove",
  glossary: "Glossary",
  glossaryHere: "Words, and how to translate them. Separate several forms with |, for example Rad|Räder. Kept only in this browser.",
  term: "Word or words",
  wanted: "Translation",
  add: "Add",
};

const GERMAN = {
  tagline: "Übersetzungen von diesem Rechner",
  key: "API-Schlüssel",
  useKey: "Verwenden",
  from: "Von",
  to: "Nach",
  swap: "Sprachen tauschen",
  sourceText: "Zu übersetzender Text",
  typeHere: "Text eingeben oder einfügen",
  translation: "Übersetzung",
  clear: "Leeren",
  copy: "Kopieren",
  copied: "Kopiert",
  look: "Hineinsehen",
  lookTitle: "Hineinsehen: die Live-Ansicht dieser Übersetzung in einem neuen Tab öffnen",
  lookInstall: (command) => `Um in Übersetzungen hineinzusehen, die Live-Ansicht installieren (${command}) und den Dienst neu starten.`,
  hint: "Ein Wort der Übersetzung anklicken, um andere Übersetzungen zu sehen. Auf ein Wort zeigen, um zu sehen, welche Wörter es übersetzt. Getönte Wörter sind unsicher.",
  history: "Frühere Übersetzungen",
  historyHere: "Nur in diesem Browser gespeichert, bis er geschlossen wird.",
  forget: "Alle vergessen",
  apis: "Programme können diese Adresse als LibreTranslate- oder DeepL-Server verwenden.",
  alternatives: "Andere Übersetzungen dieses Wortes",
  noAlternatives: "Keine andere Übersetzung",
  through: (from, to, via) => `Von ${from} nach ${to} wird über ${via} übersetzt, ohne Glossar und ohne andere Wörter zur Auswahl.`,
  auto: "Sprache erkennen",
  detected: (name) => `Erkannt: ${name}`,
  characters: (count) => (count === 1 ? "1 Zeichen" : `${count.toLocaleString("de")} Zeichen`),
  working: "Wird übersetzt …",
  failed: "Der Dienst ist nicht erreichbar",
  chooseFile: "Dateien übersetzen",
  dropFile: "oder irgendwo auf dieser Seite ablegen",
  files: "Dateien",
  sending: "Wird gesendet …",
  save: (name) => `${name} speichern`,
  remove: "Entfernen",
  glossary: "Glossar",
  glossaryHere: "Wörter und ihre Übersetzung. Mehrere Formen mit | trennen, zum Beispiel Rad|Räder. Nur in diesem Browser gespeichert.",
  term: "Wort oder Wörter",
  wanted: "Übersetzung",
  add: "Hinzufügen",
};

export const german = navigator.language.toLowerCase().startsWith("de");
export const words = german ? GERMAN : ENGLISH;

const names = new Intl.DisplayNames([german ? "de" : "en"], { type: "language", fallback: "none" });

/** What a language is called in the words of the page; `otherwise` where it has no name there. */
export function languageName(code, otherwise) {
  try {
    return names.of(code) ?? otherwise;
  } catch {
    return otherwise;
  }
}

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
  hint: "Choose a word of the translation for other ways to say it. Pointing at a word shows what it translates. Tinted words are uncertain.",
  history: "Earlier translations",
  historyHere: "Kept in this browser alone, until it is closed.",
  forget: "Forget all",
  apis: "Programs use the same address: LibreTranslate's and DeepL's APIs.",
  alternatives: "Other translations of this word",
  noAlternatives: "No other translation",
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
  glossaryHere: "Words that you want translated in a certain way. Several forms are parted by |, such as Rad|Räder. Kept in this browser alone.",
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
  hint: "Ein Wort der Übersetzung anwählen, um es anders zu sagen. Auf ein Wort zeigen, um zu sehen, was es übersetzt. Getönte Wörter sind unsicher.",
  history: "Frühere Übersetzungen",
  historyHere: "Nur in diesem Browser, bis er geschlossen wird.",
  forget: "Alle vergessen",
  apis: "Programme verwenden dieselbe Adresse: die Schnittstellen von LibreTranslate und DeepL.",
  alternatives: "Andere Übersetzungen dieses Wortes",
  noAlternatives: "Keine andere Übersetzung",
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
  glossaryHere: "Wörter, die auf bestimmte Weise übersetzt werden sollen. Mehrere Formen trennt ein |, etwa Rad|Räder. Nur in diesem Browser.",
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

// Why the service did not do what was asked, in the words of the page.
import { words } from "./words.js";

const BY_STATUS = { 413: words.tooLarge, 429: words.tooOften, 456: words.usedUp, 503: words.busy };

/** The reason of an error that `ask` throws. Reasons for which the page has no words of its own are
those of the service. */
export function reasonOf({ status, message }) {
  if (!status) return words.failed;
  if (BY_STATUS[status]) return BY_STATUS[status];
  if (/Invalid API key/.test(message)) return words.wrongKey;
  if (/API key/.test(message)) return words.noKey;
  const most = /exceeds text limit \((\d+)\)/.exec(message)?.[1];
  return most ? words.tooLong(Number(most)) : message;
}

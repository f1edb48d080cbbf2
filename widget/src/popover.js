// Details of a token, opened by pointing at it or by reaching it with the keyboard.
import { make } from "./dom.js";

const LEAVE = 140; // milliseconds to get from the token into its details

/** @type {(() => void) | null} */
let closeOpen = null;

/**
 * A trigger with a panel that opens on hover and on focus, and closes on Escape. The panel is filled
 * when it first opens; it stands beside the trigger, so that Tab leads into it.
 * @param {HTMLElement} trigger
 * @param {() => HTMLElement} fill
 * @param {{hover?: boolean}} [options]
 * @returns {HTMLElement}
 */
export function withPopover(trigger, fill, { hover = true } = {}) {
  const holder = make("span", { class: "holder" }, trigger);
  /** @type {HTMLElement | null} */
  let panel = null;
  let timer = 0;
  trigger.setAttribute("aria-expanded", "false");

  const close = () => {
    clearTimeout(timer);
    panel?.remove();
    panel = null;
    trigger.setAttribute("aria-expanded", "false");
    if (closeOpen === close) closeOpen = null;
  };
  const open = () => {
    clearTimeout(timer);
    if (panel) return;
    closeOpen?.();
    closeOpen = close;
    panel = make("div", { class: "popover" }, fill());
    holder.append(panel);
    trigger.setAttribute("aria-expanded", "true");
    place(holder, panel);
  };
  const leave = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => holder.contains(document.activeElement) || close(), LEAVE);
  };

  if (hover) holder.addEventListener("mouseenter", open);
  if (hover) holder.addEventListener("mouseleave", leave);
  holder.addEventListener("focusin", () => hover && trigger.matches(":focus-visible") && open());
  holder.addEventListener("focusout", (event) => {
    if (!holder.contains(/** @type {Node | null} */ (event.relatedTarget))) close();
  });
  trigger.addEventListener("click", open);
  holder.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !panel) return;
    event.stopPropagation();
    trigger.focus();
    close();
  });
  return holder;
}

/** Keeps a panel inside the view's width. @param {HTMLElement} holder @param {HTMLElement} panel */
function place(holder, panel) {
  const room = /** @type {HTMLElement} */ (holder.closest(".allyouneed")).getBoundingClientRect();
  const box = panel.getBoundingClientRect();
  const over = box.right - (room.right - 8);
  if (over > 0) panel.style.left = `${-Math.min(over, box.left - room.left - 8)}px`;
}

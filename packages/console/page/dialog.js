// @ts-check

import { Icon } from './parts.js';
import { html, useEffect, useRef, useState } from './preact.js';

/** Opens the dialog that it is the reference of. */
function useDialog() {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    box.current.showModal();
    return undefined;
  }, []);
  return box;
}

/**
 * A dialog with a form; what `submit` throws is reported in it.
 *
 * @param {{ title: string, word: string, danger?: boolean, submit: (form: FormData) => Promise<void>, close: () => void, children?: unknown }} props
 */
export function FormDialog({ title, word, danger = false, submit, close, children }) {
  const box = useDialog();
  const [fault, setFault] = useState('');
  const [isBusy, setBusy] = useState(false);
  const send = async (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    setBusy(true);
    await submit(new FormData(event.target)).then(close, (error) => setFault(error.message));
    setBusy(false);
  };
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${close}>
    <form onSubmit=${send}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
      <p class="fault" role="alert">${fault}</p>
      <div class="acts">
        <button type="button" onClick=${() => box.current.close()}>Cancel</button>
        <button type="submit" class=${danger ? 'danger' : 'primary'} disabled=${isBusy}>${word}</button>
      </div>
    </form>
  </dialog>`;
}

/**
 * Asks before something is done, and says what it will do.
 *
 * @param {{ act: import('./types.d.ts').Act, done: (word: string) => void, close: () => void }} props
 */
export function Confirm({ act: { word, title, effect, needs, danger = false, run }, done, close }) {
  const submit = async (/** @type {FormData} */ form) => {
    await run(form.get('text')?.toString() ?? '');
    done(word);
  };
  return html`<${FormDialog} title=${title} word=${word} danger=${danger} submit=${submit} close=${close}>
    <p>${effect}</p>
    ${needs && html`<label>${needs}<input name="text" required maxlength="1000" autocomplete="off" /></label>`}
  </${FormDialog}>`;
}

/**
 * A menu of acts, of which none is ever cut off.
 *
 * @param {{ label: string, acts: readonly import('./types.d.ts').Act[], ask: (act: import('./types.d.ts').Act) => void }} props
 */
export function Menu({ label, acts, ask }) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!isOpen) return undefined;
    /** @type {HTMLElement | null} */ (place.current.querySelector('button[role=menuitem]'))?.focus();
    const close = (/** @type {Event} */ event) => {
      if (event.type === 'keydown' && /** @type {KeyboardEvent} */ (event).key !== 'Escape') return;
      if (event.type === 'click' && place.current.contains(/** @type {Node} */ (event.target))) return;
      setOpen(false);
    };
    addEventListener('click', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('click', close);
      removeEventListener('keydown', close);
    };
  }, [isOpen]);
  const step = (/** @type {KeyboardEvent} */ event) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const items = [...place.current.querySelectorAll('button[role=menuitem]')];
    const next =
      items[(items.indexOf(/** @type {Element} */ (document.activeElement)) + by + items.length) % items.length];
    /** @type {HTMLElement} */ (next).focus();
  };
  return html`<div class="menu" ref=${place}>
    <button type="button" class="round" aria-haspopup="menu" aria-expanded=${isOpen} aria-label=${label} onClick=${() => setOpen(!isOpen)}><${Icon} name="more" /></button>
    ${
      isOpen &&
      html`<div role="menu" aria-label=${label} onKeyDown=${step}>
        ${acts.map(
          (act) =>
            html`<button type="button" role="menuitem" class=${act.danger ? 'danger' : ''} onClick=${() => {
              setOpen(false);
              ask(act);
            }}>${act.word}</button>`,
        )}
      </div>`
    }
  </div>`;
}

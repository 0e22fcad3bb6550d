/** The part of Preact that the page uses; the gateway serves it beside the page as `preact.js`: https://preactjs.com/guide/v10/hooks. */

import type uPlot from 'uplot';

/** The result of a template. */
export type Drawn = { readonly type: unknown; readonly props: unknown };

export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Drawn;
export function render(what: Drawn, where: Element): void;
export function useState<T>(initial: T): [T, (next: T) => void];
export function useEffect(act: () => (() => void) | undefined, watched: readonly unknown[]): void;
/** The element is there once effects run. */
export function useRef<T extends Element>(initial: T | null): { readonly current: T };

declare global {
  interface Window {
    /** A script of its own, which the page loads before its modules. */
    readonly uPlot: typeof uPlot;
  }
}

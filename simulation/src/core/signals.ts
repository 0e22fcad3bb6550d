/**
 * `AbortController` and `AbortSignal` as our programs use them: Node's join signals by weak references, which cost more than the calls that
 * they end, and are cleared by the machine's garbage collector. Here one that waits for others, or for a time, does so while somebody listens.
 */

type Listener =
  | ((event: { readonly type: string; readonly target: LeanSignal }) => void)
  | { handleEvent(event: object): void };

const NOBODY: readonly LeanSignal[] = [];

class LeanSignal {
  onabort: ((event: object) => void) | null = null;
  readonly #sources: readonly LeanSignal[];
  readonly #listeners = new Set<Listener>();
  /** When it fires by itself, on the clock of `performance.now`. */
  readonly #atMs: number;
  #timer: NodeJS.Timeout | undefined;
  #reason: { readonly value: unknown } | undefined;
  readonly #follow = () => this.fire(this.#firedSource()?.reason);

  constructor(sources: readonly LeanSignal[] = NOBODY, atMs = Number.POSITIVE_INFINITY) {
    this.#sources = sources;
    this.#atMs = atMs;
  }

  #firedSource(): LeanSignal | undefined {
    return this.#sources.find(({ aborted }) => aborted);
  }

  get aborted(): boolean {
    if (this.#reason !== undefined) return true;
    if (performance.now() >= this.#atMs)
      this.fire(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    else {
      const source = this.#firedSource();
      if (source !== undefined) this.fire(source.reason);
    }
    return this.#reason !== undefined;
  }
  get reason(): unknown {
    return this.aborted ? this.#reason?.value : undefined;
  }
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(type: string, listener: Listener): void {
    if (type !== 'abort' || this.aborted) return;
    if (this.#listeners.size === 0) this.#watch();
    this.#listeners.add(listener);
  }
  removeEventListener(_type: string, listener: Listener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#unwatch();
  }

  fire(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { value: reason };
    this.#unwatch();
    const event = { type: 'abort', target: this };
    this.onabort?.(event);
    for (const listener of [...this.#listeners]) {
      if (typeof listener === 'function') listener.call(this, event);
      else listener.handleEvent(event);
    }
    this.#listeners.clear();
  }

  #watch(): void {
    for (const source of this.#sources) source.addEventListener('abort', this.#follow);
    if (this.#atMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => void this.aborted, this.#atMs - performance.now());
  }
  #unwatch(): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
    clearTimeout(this.#timer);
  }

  static any(sources: readonly LeanSignal[]): LeanSignal {
    return new LeanSignal([...sources]);
  }
  static timeout(ms: number): LeanSignal {
    return new LeanSignal(NOBODY, performance.now() + ms);
  }
  static abort(reason: unknown = abortError()): LeanSignal {
    const signal = new LeanSignal();
    signal.fire(reason);
    return signal;
  }
}

const abortError = () => new DOMException('This operation was aborted', 'AbortError');

class LeanController {
  readonly signal = new LeanSignal();
  abort(reason: unknown = abortError()): void {
    this.signal.fire(reason);
  }
}

/** Puts them in place of Node's. @returns puts Node's back */
export function installSignals(): () => void {
  const { AbortController, AbortSignal } = globalThis;
  Object.assign(globalThis, { AbortController: LeanController, AbortSignal: LeanSignal });
  return () => void Object.assign(globalThis, { AbortController, AbortSignal });
}

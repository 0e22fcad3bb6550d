import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Colour only for a person's terminal that has not asked for none. */
const colours = process.stdout.isTTY === true && !process.env.NO_COLOR;
const paint = (style: Style, text: string) => (colours ? styleText(style, text) : text);

const LONG_HEX = /0x[0-9a-fA-F]{17,}/g;
const SHOWN_DIGITS = 8;
const MAX_LINE = 160;
const MAX_LINES = 32;

/** Shortens what nobody reads: long hex in its middle, tokens and signatures to their beginnings. */
export function shorten(text: string): string {
  return text
    .replaceAll(LONG_HEX, (hex) => `${hex.slice(0, 2 + SHOWN_DIGITS)}…${hex.slice(-4)}`)
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, (token) => `${token.slice(0, 12)}…`)
    .replaceAll(/((?:x-amz-)?(?:signature|credential|security-token)=)[^&"\s]{9,}/gi, '$1…')
    .replaceAll(/\b[0-9a-f]{40,}\b/g, (hex) => `${hex.slice(0, SHOWN_DIGITS)}…`);
}

function cut(line: string): string {
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

function indent(text: string, mark: string): string {
  const lines = shorten(text).split('\n').map(cut);
  const shown =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`] : lines;
  return shown.map((line) => `     ${mark} ${line}`).join('\n');
}

let step = 0;

/** Begins a numbered step with one line of what happens and why. */
export function showStep(title: string, why: string): void {
  step++;
  console.log(`\n${paint('bold', `${String(step).padStart(2)}. ${title}`)}\n    ${paint('dim', why)}`);
}

export interface ShownCall {
  readonly method: string;
  /** Path and query, or a whole URL. */
  readonly target: string;
  /** Whose the headers are, in words. */
  readonly as: string;
  readonly body?: unknown;
}

/** Shows a request as a person would want to read it. */
export function showCall({ method, target, as, body }: ShownCall): void {
  console.log(`  ${paint('cyan', '→')}  ${paint('bold', method)} ${cut(shorten(target))}  ${paint('dim', as)}`);
  if (body !== undefined)
    console.log(indent(typeof body === 'string' ? body : JSON.stringify(body, null, 1), paint('cyan', '│')));
}

/** Shows an answer: its status, and its body if it says more. */
export function showAnswer(status: number, body?: unknown): void {
  const colour = status < 300 ? 'green' : 'yellow';
  console.log(`  ${paint(colour, '←')}  ${paint(colour, String(status))}`);
  if (body === undefined || body === '') return;
  console.log(indent(typeof body === 'string' ? body : JSON.stringify(body, null, 1), paint(colour, '│')));
}

/** Shows one line of a result. */
export function showNote(text: string): void {
  console.log(`  ${paint('green', '✓')}  ${shorten(text)}`);
}

/** Shows the last line. */
export function showEnd(text: string): void {
  console.log(`\n${paint(['bold', 'green'], text)}`);
}

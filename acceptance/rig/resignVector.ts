import { type Hex, hashMessage, keccak256, sha256, stringToHex } from 'viem';
import { sign } from 'viem/accounts';
import type { Relayer } from './target.ts';

/** A vector of `relayer-auth.json`, as far as it is needed here. */
export interface AuthVector {
  readonly name: string;
  readonly expected: string;
  readonly now: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly bodyHex: string;
  };
  readonly signed: {
    readonly privateKey: string;
    readonly address: string;
    readonly message: string;
    readonly digest: string;
    readonly signature: string;
  };
}

/** Who stands for whom: the file's keys are known to everybody, so no live whitelist may hold them. */
export type StandIns = ReadonlyMap<string, Relayer>;

/** Ways to hash a text that the vectors use; each vector's own is found by its digest. */
const SCHEMES: readonly ((message: string) => Hex)[] = [
  (message) => hashMessage(message),
  (message) => keccak256(stringToHex(message)),
  (message) => hashMessage({ raw: keccak256(stringToHex(message)) }),
  (message) => hashMessage(stringToHex(message)),
  (message) => keccak256(stringToHex(`\x19Ethereum Signed Message:\n${message}`)),
  (message) => sha256(stringToHex(message)),
];

/** The contract's window, and how far from its edge a live test keeps: the call takes time, and clocks are not one. */
const WINDOW_MS = 300_000;
const MARGIN_MS = 15_000;
/** Milliseconds to try until a signature has the vector's recovery value: to fail is one chance in 2^40. */
const MAX_TRIES = 40;
const NEAR_MS = 2 * 86_400_000;

/** Moves the times in a text from the vector's clock to the service's; the window's edges move by the margin. */
function moveTimes(text: string, vector: AuthVector, now: number): string {
  return text.replaceAll(/(?<![0-9a-fA-Fx.])\d{13,17}(?![0-9a-fA-F])/g, (digits) => {
    const offset = Number(digits) - vector.now;
    if (Math.abs(offset) > NEAR_MS) return digits;
    const edge = Math.abs(Math.abs(offset) - WINDOW_MS);
    const inside = Math.abs(offset) <= WINDOW_MS ? -1 : 1;
    const moved = edge <= 1 ? offset + Math.sign(offset) * inside * MARGIN_MS : offset;
    return String(now + moved).padStart(digits.length, '0');
  });
}

/** Writes an address in the letter case of another: with its checksum, lower, upper, or with a checksum that is wrong. */
function writeLike({ found, known, wanted }: { found: string; known: string; wanted: string }): string {
  if (found === known) return wanted;
  if (found === known.toLowerCase()) return wanted.toLowerCase();
  if (found === known.toUpperCase()) return wanted.toUpperCase();
  return wanted.replace(/[a-fA-F]/, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
}

/** Puts the stand-in's address in a header, in the form that the vector gives it. */
function moveAddress(header: string, standIns: StandIns): string {
  for (const [known, { address }] of standIns) {
    const [from, to] = [known.slice(2), address.slice(2)];
    // 39 digits: some vectors have an address with a digit too few, or another first one.
    for (const part of [
      [0, 40],
      [0, 39],
      [1, 40],
    ] as const) {
      const digits = from.slice(...part);
      const place = header.toLowerCase().indexOf(digits.toLowerCase());
      if (place === -1) continue;
      const found = header.slice(place, place + digits.length);
      const wanted = to.slice(...part);
      return header.slice(0, place) + writeLike({ found, known: digits, wanted }) + header.slice(place + digits.length);
    }
  }
  return header;
}

const partsOf = (signature: string) =>
  [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)] as const;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const highOf = (s: string) => (ORDER - BigInt(`0x${s}`)).toString(16).padStart(64, '0');
/** Ways in which one half or the recovery value of a sent signature differs from the made one. */
const CHANGES: readonly ((part: string) => string)[] = [
  (part) => part,
  (part) => part.toUpperCase(),
  (part) => (part.length === 64 ? highOf(part) : part),
  (part) => (part === '1b' ? '1c' : part === '1c' ? '1b' : part),
  (part) => (part === '1b' ? '00' : part === '1c' ? '01' : part),
  (part) => (part.length === 64 ? (BigInt(`0x${part}`) ^ 1n).toString(16).padStart(64, '0') : part),
];

/** Changes the new signature as the vector changed its own; what is no change of a part is sent as it stands. */
function moveSignature(header: string, made: string, signature: string): string {
  if (header.length !== made.length) {
    // Cut, lengthened or packed otherwise: the halves are exchanged where they stand.
    return header
      .replaceAll(partsOf(made)[0], partsOf(signature)[0])
      .replaceAll(partsOf(made)[1], partsOf(signature)[1]);
  }
  const [from, to, next] = [partsOf(made), partsOf(header), partsOf(signature)];
  const moved = next.map((part, place) => {
    const change = CHANGES.find((candidate) => candidate(from[place] ?? '') === to[place]);
    return change === undefined ? to[place] : change(part);
  });
  return `0x${moved.join('')}`;
}

const recoveryOf = (signature: string) => signature.slice(130);

/**
 * Makes of a vector a call for now: its times moved to the service's clock, its keys replaced, and signed anew over the same
 * text by the same scheme, then changed in the same way.
 *
 * @param given.now - the service's clock, in milliseconds
 * @returns the call's headers; those that the vector does not send are absent
 */
export async function resignVector(
  vector: AuthVector,
  given: { readonly standIns: StandIns; readonly now: number },
): Promise<Record<string, string>> {
  const { signed, request } = vector;
  const scheme = SCHEMES.find((hash) => hash(signed.message) === signed.digest);
  const standIn = given.standIns.get(signed.address);
  if (scheme === undefined || standIn === undefined)
    throw new Error(`The vector "${vector.name}" is signed in an unknown way.`);
  for (let now = given.now; ; now++) {
    const isLast = now === given.now + MAX_TRIES;
    const message = moveTimes(signed.message, vector, now);
    const signature = await sign({ hash: scheme(message), privateKey: standIn.privateKey, to: 'hex' });
    // Some vectors are about the recovery value, which a millisecond changes in one case of two.
    // A text without a time to move stays as it is, whatever is tried.
    if (!isLast && recoveryOf(signature) !== recoveryOf(signed.signature)) continue;
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (value === undefined) continue;
      if (name === 'X-Relayer-Timestamp') headers[name] = moveTimes(value, vector, now);
      else if (name === 'X-Relayer-Address') headers[name] = moveAddress(value, given.standIns);
      else headers[name] = moveSignature(value, signed.signature, signature);
    }
    return headers;
  }
}

import { isIPv4, isIPv6 } from 'node:net';
import type { Fault, Parsed } from '@prism-gateway/protocol';
import type { Awaitable } from '../ports/awaitable.ts';
import type { WaitTiming } from '../ports/waitTiming.ts';
import { bodyTooLarge, encodedBody, notJson, validationFailed } from './errors.ts';
import type { LimitName } from './rateLimits.ts';

/** The body of a request that has none. */
export const NO_BODY = new Uint8Array(0);

/** Reads header fields. A web platform's `Headers` is one. */
export interface HeaderReader {
  /** @param name - in lower case @returns null if there is none */
  get(name: string): string | null;
}

/** The request that a transport hands over: Node's server, a function's event, or a web platform's `Request`. */
export interface TransportRequest {
  /** Upper case. */
  readonly method: string;
  /** As routed: dot segments resolved; without query, host, stage prefix or base path. */
  readonly path: string;
  /** The query as sent, without its `?`. */
  readonly query: string;
  readonly raw: { readonly headers: HeaderReader };
  /** Address of the other end of the connection. */
  readonly peerAddress: string;
  /** Bytes of the body, as far as they are known before it is read: 0, there is none; undefined, there is one of any size. */
  readonly announcedBytes: number | undefined;
  /** Aborted when the client goes away before it has its answer. */
  readonly signal: AbortSignal;
  /**
   * Reads the whole body, at once if it has come in already.
   *
   * @param maxBytes - most bytes that are taken
   * @throws ApiError BODY_TOO_LARGE; BODY_INCOMPLETE when the client went away or sent a broken chunk; OVERLOADED
   */
  readBody(maxBytes: number): Awaitable<Uint8Array>;
}

/** One HTTP request on its way through the gateway. */
export interface HttpRequest extends Omit<TransportRequest, 'peerAddress'> {
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** Rate-limit client of the connection. */
  readonly peer: string;
  /** Where is added how long the call has waited for something to happen. */
  readonly timing: WaitTiming;
  /**
   * Counts the authenticated caller in a limit, for endpoints that count for themselves.
   *
   * @param hits - how many
   * @param name - absent: the route's own
   * @throws ApiError RATE_LIMITED
   */
  count: (hits: number, name?: LimitName) => Promise<void>;
  /** Raw body; empty if there is none, and until it is read. */
  body: Uint8Array;
}

const jsonType = /^application\/(?:json|[a-z0-9!#$&^_.+-]{1,64}\+json)[ \t]*(?:;|$)/i;

type AnnouncedBody = Pick<TransportRequest, 'raw' | 'announcedBytes'>;

/**
 * Refuses a body by what is known of it before it is read: its size, its type, and its coding.
 *
 * @param maxBytes - most bytes of a body
 * @throws ApiError BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export function checkAnnouncedBody({ raw, announcedBytes }: AnnouncedBody, maxBytes: number): void {
  if (announcedBytes === 0) return;
  if (announcedBytes !== undefined && announcedBytes > maxBytes) throw bodyTooLarge(maxBytes);
  const type = raw.headers.get('content-type');
  if (type !== null && type !== 'application/json' && !jsonType.test(type)) throw notJson();
  const coding = raw.headers.get('content-encoding');
  if (coding !== null && coding.toLowerCase() !== 'identity') throw encodedBody();
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function refuse(message: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ path: 'body', message }] };
}

function decodeUtf8(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

function decodeJson(text: string): Parsed<unknown> {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return refuse('expected JSON');
  }
}

/**
 * Parses a body as JSON, of a doubled key the last one counting, and then with a parser of its own.
 *
 * @param body - raw bytes
 * @param parse - from parsed JSON to a trusted value or faults
 * @returns the value, or the faults: no body, invalid UTF-8, a byte order mark, no JSON, or what `parse` found
 */
export function parseBody<T>(body: Uint8Array, parse: (json: unknown) => Parsed<T>): Parsed<T> {
  if (body.byteLength === 0) return refuse('required: expected a JSON object');
  const text = decodeUtf8(body);
  if (text === undefined) return refuse('expected JSON in UTF-8');
  if (text.charCodeAt(0) === 0xfeff) return refuse('expected JSON without a byte order mark');
  const json = decodeJson(text);
  return 'faults' in json ? json : parse(json.value);
}

const isValid = (part: Parsed<unknown>): part is { readonly value: unknown } => 'value' in part;

/**
 * Takes the values of parsed parts, or refuses with the faults of all of them at once.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export function requireValid<T extends readonly unknown[]>(...parts: { [K in keyof T]: Parsed<T[K]> }): T {
  const all: readonly Parsed<unknown>[] = parts;
  // Each part is a value of its own place's type.
  if (all.every(isValid)) return all.map(({ value }) => value) as unknown as T;
  throw validationFailed(all.flatMap((part) => ('faults' in part ? part.faults : [])));
}

const dottedMappedIPv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The eight groups of an IPv6 address, in lower case and without leading zeros. */
function groupsOf(address: string): string[] {
  const [bare = ''] = address.split('%');
  // A URL's host is written in the one canonical form, without dots.
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

/** The first four groups of an IPv6 address: one customer's network; or the IPv4 address that it stands for. */
function clientOfIPv6(address: string): string {
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return `${groups.slice(0, 4).join(':')}::/64`;
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.join('.');
}

/** Names the client behind an address: an IPv4 address, or the /64 of an IPv6 one. */
export function clientOfAddress(address: string): string {
  if (isIPv4(address)) return address;
  // The form in which Node names the peers of a dual-stack socket.
  const mapped = dottedMappedIPv4.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  return isIPv6(address) ? clientOfIPv6(address) : 'unknown';
}

/** Names the /48 of a client's /64, which one customer may have as a whole; undefined for an IPv4 address. */
export function networkOf(client: string): string | undefined {
  return client.endsWith('::/64') ? `${client.split(':').slice(0, 3).join(':')}::/48` : undefined;
}

/** An address as some proxies write it: `192.0.2.1:80`, `[2001:db8::1]:443`. */
const addressWithPort = /^(?:(?<v4>\d+\.\d+\.\d+\.\d+):\d+|\[(?<v6>[^\]]+)\](?::\d+)?)$/;

function withoutPort(hop: string): string {
  const { v4, v6 } = addressWithPort.exec(hop)?.groups ?? {};
  return v4 ?? v6 ?? hop;
}

/**
 * Finds the peer that a request came from: the socket's, or, behind trusted proxies, the address that many steps from the
 * right of `X-Forwarded-For`. What stands further left was written by the client and is not believed.
 *
 * @param socketAddress - address of the connection
 * @param forwardedFor - the header, if any
 * @param trustedHops - number of proxies in front of the service
 */
export function findPeer(socketAddress: string, forwardedFor: string | null, trustedHops: number): string {
  if (trustedHops === 0 || forwardedFor === null) return clientOfAddress(socketAddress);
  const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()));
  const address = hops[Math.max(0, hops.length - trustedHops)] ?? socketAddress;
  const client = clientOfAddress(address);
  return client === 'unknown' ? clientOfAddress(socketAddress) : client;
}

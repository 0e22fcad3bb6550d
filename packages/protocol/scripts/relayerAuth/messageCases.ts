import { createHash } from 'node:crypto';
import { concatHex, type Hex, hashMessage, keccak256, stringToHex } from 'viem';
import { EMPTY_BODY_HASH } from '../../src/auth/relayerAuth.ts';
import { type Case, CLAIM_BODY, NOW, REQUEST_PATH } from './vectorCase.ts';

const refused = (name: string, rest: Omit<Case, 'name' | 'expected'>): Case => ({
  name,
  expected: 'signature',
  ...rest,
});
const bodyHash = keccak256(stringToHex(CLAIM_BODY));
const hashWith = (algorithm: string, text: string) => `0x${createHash(algorithm).update(text).digest('hex')}`;
const id = REQUEST_PATH.slice('/requests/'.length);
const get = { method: 'GET', path: '/requests', query: 'status=pending', body: null } as const;
const lines = (edit: (lines: string[]) => string[]) => (message: string) => edit(message.split('\n')).join('\n');

const textCases = [
  refused('a text with CRLF between its lines', { message: (message) => message.replaceAll('\n', '\r\n') }),
  refused('a text with a trailing line end', { message: (message) => `${message}\n` }),
  refused('a text with a line end in front', { message: (message) => `\n${message}` }),
  refused('a text with a byte order mark', { message: (message) => `\ufeff${message}` }),
  refused('a text in one line', { message: (message) => message.replaceAll('\n', ' ') }),
  refused('a text of four lines, without its body', { message: lines((all) => all.slice(0, 4)) }),
  refused('a text of four lines, without its title', { message: lines((all) => all.slice(1)) }),
  refused('a text with the wrong title', { message: (message) => message.replace('Service', 'Prism') }),
  refused('a text whose title is in lower case', { message: (message) => message.replace('Service', 'service') }),
  refused('a text without spaces after its colons', { message: (message) => message.replaceAll(': ', ':') }),
  refused('a text with its lines in another order', {
    message: lines(([title, timestamp, method, path, body]) => [title, method, path, timestamp, body] as string[]),
  }),
  refused('a text without the leading zeros of the timestamp', {
    timestamp: `000${NOW}`,
    signed: { timestamp: String(NOW) },
  }),
];

const replayCases = [
  refused('a signature for another timestamp', { signed: { timestamp: String(NOW - 1) } }),
  refused('a signature for another method', { signed: { method: 'GET' } }),
  refused('a signature for another request', { signed: { path: REQUEST_PATH.replace(/2$/, '3') } }),
  refused('a signature for another body', { signed: { bodyHash: keccak256(stringToHex('{"status":"success"}')) } }),
  refused('a signature of a list, used for a claim', {
    signed: { method: 'GET', path: '/requests', bodyHash: EMPTY_BODY_HASH },
  }),
];

const methodCases = [
  refused('a method in lower case', { signed: { method: 'patch' } }),
  refused('a method in mixed case', { signed: { method: 'Patch' } }),
];

const pathCases = [
  refused('a path with its query', { ...get, signed: { path: '/requests?status=pending' } }),
  refused('a path with a stage prefix', { signed: { path: `/dev${REQUEST_PATH}` } }),
  refused('a path with its host', { signed: { path: `https://gateway.example${REQUEST_PATH}` } }),
  refused('a path without its leading slash', { signed: { path: REQUEST_PATH.slice(1) } }),
  refused('a path with a trailing slash', { signed: { path: `${REQUEST_PATH}/` } }),
  refused('a path in another letter case than sent', { signed: { path: `/requests/${id.toUpperCase()}` } }),
  refused('a path template', { signed: { path: '/requests/{requestId}' } }),
  refused('a signed path with a percent escape, sent without', {
    signed: { path: `/requests/${id.replace('-', '%2D')}` },
  }),
  refused('a path with a percent escape, sent and signed', { path: `/requests/${id.replace('-', '%2D')}` }),
  refused('a signed path with a double slash, sent without', { signed: { path: `/requests//${id}` } }),
  refused('a path with a double slash, sent and signed', { path: `/requests//${id}`, overHttp: false }),
  refused('a path with a double slash in front, sent and signed', { path: `/${REQUEST_PATH}`, overHttp: false }),
  refused('a signed path with a dot segment, sent without', { signed: { path: `/requests/./${id}` } }),
  refused('a path with a dot segment, sent and signed', { path: `/requests/./${id}`, overHttp: false }),
  refused('a path with a double-dot segment, sent and signed', { path: `/x/..${REQUEST_PATH}`, overHttp: false }),
  refused('a path that ends in a double-dot segment, sent and signed', {
    path: `${REQUEST_PATH}/x/..`,
    overHttp: false,
  }),
];

const bodyCases = [
  refused('a body hash in upper case', { signed: { bodyHash: `0x${bodyHash.slice(2).toUpperCase()}` } }),
  refused('a body hash without 0x', { signed: { bodyHash: bodyHash.slice(2) } }),
  refused('the body itself in place of its hash', { signed: { bodyHash: CLAIM_BODY } }),
  refused('the hash of re-serialised JSON, not of the raw bytes', {
    body: '{ "status": "processing" }',
    signed: { bodyHash },
  }),
  refused('SHA-256 of the body', { signed: { bodyHash: hashWith('sha256', CLAIM_BODY) } }),
  refused('SHA3-256 of the body', {
    note: 'Keccak-256 pads otherwise than the later standard.',
    signed: { bodyHash: hashWith('sha3-256', CLAIM_BODY) },
  }),
  refused("the hash of the body's hex text", { signed: { bodyHash: keccak256(stringToHex(stringToHex(CLAIM_BODY))) } }),
  refused('an empty body line for a call without a body', { ...get, signed: { bodyHash: '' } }),
  refused('0x alone for a call without a body', { ...get, signed: { bodyHash: '0x' } }),
  refused('the hash of {} for a call without a body', { ...get, signed: { bodyHash: keccak256(stringToHex('{}')) } }),
  refused('32 bytes of 0 for a call without a body', { ...get, signed: { bodyHash: `0x${'00'.repeat(32)}` } }),
  refused('the hash of an empty body for a call with one', { signed: { bodyHash: EMPTY_BODY_HASH } }),
];

/** EIP-191 over the 32 bytes of a hash: what signing "arrayified" hashes gives. */
const prefixHash = (message: string): Hex => hashMessage({ raw: keccak256(stringToHex(message)) });
/** The prefix of version 0x01 without the length of the text. */
const prefixOnly = (message: string): Hex =>
  keccak256(concatHex([stringToHex('\x19Ethereum Signed Message:\n'), stringToHex(message)]));

const schemeCases = [
  refused('a raw signature over keccak-256 of the text, without EIP-191', {
    digest: (message) => keccak256(stringToHex(message)),
  }),
  refused('EIP-191 over the hash of the text', { digest: prefixHash }),
  refused("EIP-191 over the text's hex", { digest: (message) => hashMessage(stringToHex(message)) }),
  refused('an EIP-191 prefix without the length', { digest: prefixOnly }),
  refused('a raw signature over SHA-256 of the text', { digest: (message) => hashWith('sha256', message) as Hex }),
];

/** Calls that are rightly signed over a text that is not theirs, or by another scheme. */
export const MESSAGE_CASES: readonly Case[] = [
  ...textCases,
  ...replayCases,
  ...methodCases,
  ...pathCases,
  ...bodyCases,
  ...schemeCases,
];

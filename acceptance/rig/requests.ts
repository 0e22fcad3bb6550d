import { type RequestPage, type RequestRecord, requestPageSchema, requestRecordSchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from './callApi.ts';
import { callAsRelayer } from './callAsRelayer.ts';
import type { HttpResponse } from './httpMessage.ts';
import { randomHex } from './randomHex.ts';
import { type Relayer, relayerAt, type Target } from './target.ts';

/** Any JSON object that a test sends. */
export type Json = Readonly<Record<string, unknown>>;

/** Chain of this run's requests: no relayer at work lists it. */
export function chainOf(target: Target, suffix = ''): string {
  return `acceptance.${target.run}${suffix}`;
}

/** Fresh params of a `WRITE_DATA_FOR`. Their signature is no real one: the service does not check it. */
export function writeParams(over: Json = {}): Json {
  return {
    cloudId: randomHex(32),
    dataId: randomHex(32),
    payload: '0x68656c6c6f',
    relayerFee: '10000000000000000',
    timestamp: '1767225600',
    signer: randomHex(20),
    v: 27,
    r: randomHex(32),
    s: randomHex(32),
    ...over,
  };
}

/** A body of `POST /requests`, good as it is. */
export function writeBody(
  target: Target,
  over: { readonly params?: Json; readonly [field: string]: unknown } = {},
): Json {
  return { chainName: chainOf(target), action: 'WRITE_DATA_FOR', ...over, params: writeParams(over.params) };
}

/** Reads a record, strictly. */
export function readRecord(answer: HttpResponse): RequestRecord {
  // The schema leaves the params' shape open; tests compare them with what they sent.
  return requestRecordSchema.parse(answer.body) as RequestRecord;
}

/** Reads a page, strictly. */
export function readPage(answer: HttpResponse): RequestPage {
  expect(answer.status, answer.text).toBe(200);
  return requestPageSchema.parse(answer.body) as unknown as RequestPage;
}

/** Puts a request into the queue. */
export async function createRequest(target: Target, json: Json = writeBody(target)): Promise<RequestRecord> {
  const answer = await callApi(target, { method: 'POST', path: '/requests', json });
  expect(answer.status, answer.text).toBe(201);
  return readRecord(answer);
}

/** Asks for a move of a request, as one of the run's relayers. */
export async function updateRequest(
  target: Target,
  { requestId, json, relayer = relayerAt(target, 0) }: { requestId: string; json: unknown; relayer?: Relayer },
): Promise<HttpResponse> {
  return await callAsRelayer(target, { method: 'PATCH', path: `/requests/${requestId}`, json, relayer });
}

/** Claims a request as one of the run's relayers, and expects to win. */
export async function claim(target: Target, requestId: string, relayer?: Relayer): Promise<RequestRecord> {
  const answer = await updateRequest(target, {
    requestId,
    json: { status: 'processing' },
    ...(relayer && { relayer }),
  });
  expect(answer.status, answer.text).toBe(200);
  return readRecord(answer);
}

/** Reads a request back. */
export async function readRequest(target: Target, requestId: string): Promise<RequestRecord> {
  const answer = await callApi(target, { path: `/requests/${requestId}` });
  expect(answer.status, answer.text).toBe(200);
  return readRecord(answer);
}

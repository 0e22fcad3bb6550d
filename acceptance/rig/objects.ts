import { createHash } from 'node:crypto';
import { type SignedOperationBody, type StorageOperation, signedOperationSchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from './callApi.ts';
import type { HttpResponse } from './httpMessage.ts';
import { randomHex } from './randomHex.ts';
import type { Json } from './requests.ts';

/** Bytes, and the names under which a user stores them. */
export interface TestObject {
  readonly content: Uint8Array<ArrayBuffer>;
  readonly projectId: string;
  readonly key: string;
}

/** An object of random content. @param size - bytes */
export function makeObject(size = 64): TestObject {
  const content = new Uint8Array(Buffer.from(randomHex(size).slice(2), 'hex'));
  return { content, projectId: randomHex(16), key: `0x${createHash('sha256').update(content).digest('hex')}` };
}

/** Calls `POST /storage/sign`. @param asked.token - undefined: none is sent */
export async function sign(
  target: { readonly url: string },
  asked: { readonly token: string | undefined; readonly json: Json },
): Promise<HttpResponse> {
  const headers: Record<string, string> = asked.token === undefined ? {} : { authorization: `Bearer ${asked.token}` };
  return await callApi(target, { method: 'POST', path: '/storage/sign', headers, json: asked.json });
}

/** Gets a presigned URL for one operation on an object. */
export async function signOperation(
  target: { readonly url: string },
  asked: { readonly token: string; readonly operation: StorageOperation; readonly object: TestObject },
): Promise<SignedOperationBody> {
  const { projectId, key } = asked.object;
  const answer = await sign(target, { token: asked.token, json: { projectId, key, operation: asked.operation } });
  expect(answer.status, answer.text).toBe(200);
  return signedOperationSchema.parse(answer.body);
}

/** The response of an object store. */
export interface ObjectAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/**
 * Uses a presigned URL as it was given: its method, its headers, nothing else.
 *
 * @param over - parts to send otherwise
 */
export async function useSigned(
  signed: SignedOperationBody,
  over: { body?: Uint8Array<ArrayBuffer>; method?: string; url?: string; headers?: Record<string, string> } = {},
): Promise<ObjectAnswer> {
  const { body } = over;
  const response = await fetch(over.url ?? signed.url, {
    method: over.method ?? signed.method,
    headers: over.headers ?? signed.headers,
    ...(body && { body }),
  });
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** Whether the gateway serves its objects itself, and not a bucket. */
export function isLocal(target: { readonly url: string }, signed: SignedOperationBody): boolean {
  return new URL(signed.url).pathname.includes('/objects/v1/') && new URL(signed.url).host === new URL(target.url).host;
}

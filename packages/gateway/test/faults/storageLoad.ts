import { createHash, randomBytes } from 'node:crypto';
import type { SignedOperationBody, StorageOperation } from '@prism-gateway/protocol';
import type { OidcProvider } from '@prism-gateway/testing';
import type { Door } from './door.ts';
import type { Insisted, Witness } from './witness.ts';

/** How long a client waits for the object store, in milliseconds. */
const STORE_PATIENCE_MS = 3000;
/** Tries of one operation on an object. */
const MAX_TRIES = 100;
/** One object in so many is deleted again. */
const DELETE_EVERY = 3;
/** Longest content, in bytes. */
const MAX_BYTES = 4000;

/** An object that a user has. */
export interface KeptObject {
  readonly user: string;
  readonly projectId: string;
  readonly key: string;
  readonly content: Buffer;
}

/** What all users of the storage share. */
export interface StorageLoad {
  readonly witness: Witness;
  readonly identity: OidcProvider;
  /** Objects of which the upload was acknowledged and that were not deleted. */
  readonly kept: KeptObject[];
  /** Uses of presigned URLs, and how many of them went wrong on the way and were repeated. */
  readonly uses: { all: number; repeated: number };
  /** What users saw that must not be. */
  readonly wrongs: string[];
}

interface StoreAnswer {
  readonly status: number;
  readonly bytes: Buffer;
  readonly length: string | null;
  /** A try before had no answer, or one of 5xx: it may have been done, or not. */
  readonly wasUnknown: boolean;
}

/** Uses a presigned URL once. @returns undefined where no whole answer came, or the store refused for its own sake */
async function useOnce(signed: SignedOperationBody, content?: Buffer) {
  const { method, headers, url } = signed;
  try {
    const body = content && { body: new Uint8Array(content) };
    const signal = AbortSignal.timeout(STORE_PATIENCE_MS);
    const response = await fetch(url, { method, headers, signal, ...body });
    const bytes = Buffer.from(await response.arrayBuffer());
    const length = response.headers.get('content-length');
    return response.status >= 500 ? undefined : { status: response.status, bytes, length };
  } catch {
    return undefined;
  }
}

/** Uses a presigned URL until the store says something: the same URL does, as long as it lives. */
async function useSigned(load: StorageLoad, signed: SignedOperationBody, content?: Buffer): Promise<StoreAnswer> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    load.uses.all++;
    const answer = await useOnce(signed, content);
    if (answer !== undefined) return { ...answer, wasUnknown: tries > 1 };
    load.uses.repeated++;
  }
  throw new Error(`${signed.method} on an object got no answer in ${MAX_TRIES} tries`);
}

/** Makes an object that nobody has yet. */
function makeObject(user: string): KeptObject {
  const content = randomBytes(1 + Math.floor(Math.random() * MAX_BYTES));
  const key = `0x${createHash('sha256').update(content).digest('hex')}`;
  return { user, projectId: `0x${randomBytes(16).toString('hex')}`, key, content };
}

/** A user's way to the service. */
export interface StorageUser {
  readonly load: StorageLoad;
  readonly door: Door;
  /** `sub` of the tokens. */
  readonly user: string;
}

interface SignAsk {
  readonly token: string;
  readonly operation: StorageOperation;
  readonly object: KeptObject;
}

async function sign({ load, door }: StorageUser, { token, operation, object }: SignAsk): Promise<Insisted> {
  const { projectId, key } = object;
  const json = { projectId, key, operation };
  const headers = { authorization: `Bearer ${token}` };
  return await load.witness.insist(door, { method: 'POST', path: '/storage/sign', json, headers });
}

/** Signs one operation by a token of its own, and carries it out. */
async function operate(user: StorageUser, operation: StorageOperation, object: KeptObject): Promise<StoreAnswer> {
  const { load } = user;
  // Tokens of both kinds; each is new to the gateway, so that each is verified anew.
  const token = await (Math.random() < 0.5 ? load.identity.issueOpaque(user.user) : load.identity.issueJwt(user.user));
  const answer = await sign(user, { token, operation, object });
  if (answer.status !== 200) throw new Error(`a good token was answered ${answer.status} ${answer.text}`);
  // A 200 carries that.
  const signed = JSON.parse(answer.text) as SignedOperationBody;
  return await useSigned(load, signed, operation === 'put' ? object.content : undefined);
}

/** Reads an object back by its user's own right. @returns what is wrong with it */
export async function findObjectFault(user: StorageUser, object: KeptObject): Promise<string | undefined> {
  const { status, bytes } = await operate(user, 'get', object);
  if (status !== 200) return `an acknowledged upload is lost: ${status}`;
  return bytes.equals(object.content) ? undefined : 'what comes back is not what was stored';
}

/** Tokens that must never open, whatever befalls the provider: a made-up one and a revoked one. */
async function knockWithBadTokens(user: StorageUser, object: KeptObject): Promise<void> {
  const revoked = await user.load.identity.issueOpaque(user.user);
  await user.load.identity.revoke(revoked);
  for (const token of [revoked, randomBytes(24).toString('base64url')]) {
    const { status } = await sign(user, { token, operation: 'get', object });
    if (status !== 401) user.load.wrongs.push(`a bad token was answered ${status}`);
  }
}

/** Stores an object. A repeated upload may find that it was there already: by its own try before. */
async function store(user: StorageUser, object: KeptObject): Promise<void> {
  const { status, wasUnknown } = await operate(user, 'put', object);
  if (status === 200 || (status === 412 && wasUnknown)) user.load.kept.push(object);
  else user.load.wrongs.push(`an upload was answered ${status}`);
}

/** One user: stores objects, reads them back, asks for their lengths, deletes some, and knocks with bad tokens. */
export async function runStorageUser(user: StorageUser, objects: number): Promise<void> {
  const { load } = user;
  for (let i = 1; i <= objects; i++) {
    const object = makeObject(user.user);
    await store(user, object);
    const fault = await findObjectFault(user, object);
    if (fault !== undefined) load.wrongs.push(fault);
    const { status, length } = await operate(user, 'head', object);
    if (status !== 200 || length !== String(object.content.length)) load.wrongs.push(`head says ${status}, ${length}`);
    if (i % DELETE_EVERY !== 0) continue;
    await knockWithBadTokens(user, object);
    load.kept.splice(load.kept.indexOf(object), 1);
    const deleted = await operate(user, 'delete', object);
    if (deleted.status !== 204) load.wrongs.push(`a deletion was answered ${deleted.status}`);
    const gone = await operate(user, 'get', object);
    if (gone.status !== 404 && gone.status !== 403) load.wrongs.push(`a deleted object was answered ${gone.status}`);
  }
}

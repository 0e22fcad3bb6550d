import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TransportRequest } from '../http/request.ts';
import { NO_BODY } from '../http/request.ts';
import { parseSettings } from './settings.ts';
import { wireGateway } from './wire.ts';

const getCall = (path: string): TransportRequest => ({
  ...{ method: 'GET', path, query: '', raw: { headers: new Headers() }, peerAddress: '127.0.0.1', announcedBytes: 0 },
  signal: new AbortController().signal,
  readBody: () => NO_BODY,
});

test('all answers with the document of the API share its bytes', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'wire-'));
  const settings = parseSettings({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' });
  const gateway = await wireGateway({ settings, environment: {}, publicUrl: 'http://127.0.0.1' });
  try {
    const first = await gateway.answer(getCall('/openapi.json'));
    const second = await gateway.answer(getCall('/openapi.json'));
    expect(JSON.parse(Buffer.from(first.body as Uint8Array).toString())).toMatchObject({ openapi: expect.any(String) });
    expect(first.body).toBeInstanceOf(Uint8Array);
    expect(second.body).toBe(first.body);
  } finally {
    await gateway.close();
    await gateway.closeLog();
    await rm(dataDir, { recursive: true, force: true });
  }
});

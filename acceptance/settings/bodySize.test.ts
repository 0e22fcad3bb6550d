import { expect } from 'vitest';
import { covers } from '../rig/covers.ts';
import { sendRaw } from '../rig/sendRaw.ts';
import { startOwn } from '../rig/startOwn.ts';

covers(
  ['body.contentLength', 'createRequest.413'],
  'a content-length over the limit is 413 before the body comes',
  async () => {
    const { target } = await startOwn({});
    const headers = { 'content-type': 'application/json', 'content-length': String(target.maxBodyBytes + 1) };
    // Nothing of the body is sent: whoever waited for it would never answer.
    expect((await sendRaw(target, { method: 'POST', path: '/requests', headers })).status).toBe(413);
  },
);

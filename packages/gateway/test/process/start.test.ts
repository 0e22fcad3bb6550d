import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { drawSome } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer } from './runServer.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'prism-start-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** A start that failed as it should: one sentence, no stack, nothing on standard output. */
function expectSentence(stderr: string, sentence: string | RegExp): void {
  expect(stderr).toMatch(sentence);
  expect(stderr).toMatch(/^Prism Gateway could not start\. .+\n$/);
}

test('--help prints the settings and exits with 0', async () => {
  const { code, stdout, stderr } = await runServer({ PORT: 'not looked at' }, ['--help']);
  expect([code, stderr]).toEqual([0, '']);
  for (const name of ['PORT', 'DATA_DIR', 'ADMIN_API_KEY', 'IDENTITY_ISSUER']) expect(stdout).toContain(name);
});

test('an argument that it does not know is one sentence, exit 2', async () => {
  const { code, stdout, stderr } = await runServer({ DATA_DIR: join(directory, 'none') }, ['--port', '9000']);
  expect([code, stdout]).toEqual([2, '']);
  expectSentence(stderr, /It takes no argument "--port": settings are environment variables/);
});

// Shows OPERATE-1.
test('a port in use is one sentence, exit 1, and nothing is made', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an AddressInfo.
  const { port } = taken.address() as { port: number };
  const dataDir = join(directory, 'untouched');
  const { code, stdout, stderr } = await runServer({ PORT: String(port), DATA_DIR: dataDir });
  taken.close();
  expect([code, stdout]).toEqual([1, '']);
  expectSentence(stderr, `127.0.0.1:${port} is in use: stop what listens there, or set PORT to another port.`);
  await expect(rm(dataDir, { recursive: true })).rejects.toMatchObject({ code: 'ENOENT' });
});

test('an address of another machine is one sentence, exit 1', async () => {
  const { code, stderr } = await runServer({ HOST: '192.0.2.1', PORT: '0', DATA_DIR: directory });
  expect(code).toBe(1);
  expectSentence(stderr, /192\.0\.2\.1:0 is not an address of this machine: set HOST/);
});

describe('a DATA_DIR that cannot be used is one sentence with its name, exit 1:', () => {
  const cases: [string, () => Promise<string>][] = [
    [
      'a file',
      async () => {
        await writeFile(join(directory, 'file'), '');
        return join(directory, 'file');
      },
    ],
    [
      'a path below a file',
      async () => {
        await writeFile(join(directory, 'parent'), '');
        return join(directory, 'parent', 'data');
      },
    ],
    ['a place where nothing can be made', async () => '/proc/prism'],
    [
      'a link to itself',
      async () => {
        await symlink(join(directory, 'loop'), join(directory, 'loop'));
        return join(directory, 'loop');
      },
    ],
    ['too long a name', async () => join(directory, 'a'.repeat(300))],
    [
      'one whose secrets are damaged',
      async () => {
        const dataDir = join(directory, 'damaged');
        await mkdir(dataDir);
        await writeFile(join(dataDir, 'secrets.json'), '{"objectSigningKey":"s3cret"}');
        return dataDir;
      },
    ],
    [
      'one whose database is none',
      async () => {
        const dataDir = join(directory, 'other');
        await mkdir(dataDir);
        await writeFile(
          join(dataDir, 'gateway-dev.db'),
          'this is no database, and long enough to be read as one'.repeat(9),
        );
        return dataDir;
      },
    ],
    [
      'one whose database is a directory',
      async () => {
        const dataDir = join(directory, 'nested');
        await mkdir(join(dataDir, 'gateway-dev.db'), { recursive: true });
        return dataDir;
      },
    ],
  ];
  // `startFailure.test.ts` has the sentences; these are the real errors.
  test.each(drawSome(cases, { of: 'folders that cannot be used', small: 3 }))('%s', async (_, make) => {
    const dataDir = await make();
    const { code, stderr } = await runServer({ PORT: '0', DATA_DIR: dataDir });
    expect(code).toBe(1);
    expectSentence(stderr, dataDir);
    expect(stderr).not.toContain('s3cret');
  });
});

// Shows STORE-6.
test("a later version's data are refused in one sentence, exit 1", async () => {
  const dataDir = join(directory, 'later');
  await mkdir(dataDir);
  const database = new DatabaseSync(join(dataDir, 'gateway-dev.db'));
  database.exec(
    "CREATE TABLE schema_versions (store, version); INSERT INTO schema_versions VALUES ('service-requests-dev', 99)",
  );
  database.close();
  const { code, stderr } = await runServer({ PORT: '0', DATA_DIR: dataDir });
  expect(code).toBe(1);
  expectSentence(stderr, /schema is version 99.*start a newer version/);
});

test('bad settings are all named at once, exit 1, and no value of theirs is printed', async () => {
  const secrets = { ADMIN_API_KEY: 'short-s3cret', CURSOR_SECRET: 'tiny-s3cret', IDENTITY_APP_SECRET: 'app-s3cret' };
  const { code, stdout, stderr } = await runServer({
    STAGE: 'prod',
    PORT: '65536',
    LOG_LEVEL: 'loud',
    IDENTITY_ISSUER: 'http://user:s3cret@issuer.example',
    ...secrets,
  });
  expect([code, stdout]).toEqual([1, '']);
  const named = ['PORT', 'LOG_LEVEL', 'ADMIN_API_KEY', 'CURSOR_SECRET', 'IDENTITY_ISSUER', 'IDENTITY_APP_ID'];
  for (const name of named) expect(stderr).toContain(`\n  ${name}: `);
  expect(stderr).not.toContain('s3cret');
  expect(stderr).not.toMatch(/\n\s+at /);
});

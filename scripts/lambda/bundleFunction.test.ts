import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFunction, type FunctionBundle, MAX_BUNDLE_BYTES } from './bundleFunction.ts';
import { bundleOptions } from './bundleOptions.ts';
import { findForbidden } from './checkInputs.ts';
import { hollowFiles } from './leaveOut.ts';

const run = promisify(execFile);

/** Settings with which the function gets ready; nothing is called. */
const env = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  STORAGE_BUCKET: 'prism-objects',
  ADMIN_API_KEY: 'not-a-key-but-as-long-as-one-must-be',
  CURSOR_SECRET: 'not-a-secret-but-as-long-as-one-must-be',
  IDENTITY_ISSUER: 'https://id.example.org',
  IDENTITY_APP_ID: 'prism',
};

describe('the bundle', () => {
  let folder: string;
  let bundle: FunctionBundle;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'prism-bundle-'));
    bundle = await bundleFunction({ code: join(folder, 'code'), maps: join(folder, 'maps') });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('loads at most 420 kB at once, with the OpenAPI document beside it and the source maps apart', async () => {
    const code = await readdir(join(folder, 'code'));
    const modules = code.filter((name) => name.endsWith('.mjs'));
    expect(code.filter((name) => !modules.includes(name))).toEqual(['openapi.json']);
    expect((await readdir(join(folder, 'maps'))).sort()).toEqual(modules.map((name) => `${name}.map`).sort());
    expect(bundle.bytes).toBeGreaterThan((await stat(bundle.file)).size);
    expect(bundle.bytes).toBeLessThanOrEqual(MAX_BUNDLE_BYTES);
  });

  it('leaves what only administrators of webhooks call to a module that is loaded when they do', async () => {
    const modules = await readdir(join(folder, 'code'));
    expect(modules.filter((name) => name.startsWith('openWebhookRoutes-'))).toHaveLength(1);
    expect(await readFile(bundle.file, 'utf8')).not.toContain('webhooks.rotate');
  });

  it('holds no curve arithmetic in JavaScript, no generator, and nothing of the server', () => {
    expect(findForbidden(bundle.metafile)).toEqual([]);
  });

  it('still meets every file of the AWS SDK that it hollows out', () => {
    const inputs = Object.keys(bundle.metafile.inputs);
    expect(hollowFiles.filter(([file]) => !inputs.some((path) => file.test(path)))).toEqual([]);
  });

  it('asks for no module at run time that is not inside it', async () => {
    expect(await readFile(bundle.file, 'utf8')).not.toContain('Dynamic require');
  });

  it('gets ready without loading the parts of Node that take long', async () => {
    const script = `await import(${JSON.stringify(bundle.file)}); console.log(process.moduleLoadList.join('\\n'));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env });
    const loaded = stdout.split('\n');
    expect(loaded).toContain('NativeModule https');
    for (const name of [
      'internal/deps/undici/undici',
      'http2',
      'worker_threads',
      'internal/process/report',
      'sqlite',
    ]) {
      expect(loaded).not.toContain(`NativeModule ${name}`);
    }
  });
});

it('would find curve arithmetic and languages', async () => {
  const contents = "export { recoverAddress } from 'viem'; export { z } from 'zod'; export { pino } from 'pino';";
  const { metafile } = await build({ ...bundleOptions, stdin: { contents, resolveDir: import.meta.dirname } });
  const faults = findForbidden(metafile).join('\n');
  for (const found of ['@noble/curves', 'viem/', 'zod/v4/classic', 'zod/v4/locales/de', 'pino/'])
    expect(faults).toContain(found);
});

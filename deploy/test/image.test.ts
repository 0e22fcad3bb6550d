import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTool } from './rigs/findTool.ts';
import { type ImageConfig, runReadOnly } from './rigs/runReadOnly.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** An image that is there already; unset: one is built, and removed again. */
const { IMAGE } = process.env;
const TAG = IMAGE ?? 'localhost/prism-gateway:test';
/** Two roots are made of packages, npm installs, and layers are written: minutes, and more of them on a loaded machine. */
const BUILD_MS = 1_200_000;

/** The reason why no image can be built here; undefined: none. */
function findHindrance(): string | undefined {
  if (findTool('buildah', 'buildah') === undefined || findTool('mmdebstrap', 'mmdebstrap') === undefined)
    return 'no buildah';
  if (process.getuid?.() !== 0) return 'only root may mount';
  return spawnSync('unshare', ['--mount', 'true']).status === 0 ? undefined : 'this sandbox allows no mounts';
}

const hindrance = findHindrance();
if (hindrance !== undefined) console.warn(`The image is not built here: ${hindrance}.`);

describe.skipIf(hindrance !== undefined)('the image, on a base of Debian packages', () => {
  // A sandbox allows no more; it changes nothing of what is built.
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
  const buildah = async (...args: string[]) => (await run('buildah', args, { env })).stdout.trim();
  let config: ImageConfig & { readonly Healthcheck: { readonly Test: readonly string[] } };
  let container: string;
  let mounted: string;

  beforeAll(async () => {
    const build = ['deploy/image/build', '--from-debian', '--tag', TAG];
    if (IMAGE === undefined) await run('bash', build, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
    config = JSON.parse(await buildah('inspect', '--type', 'image', TAG)).Docker.config;
    container = await buildah('from', '--pull-never', TAG);
    mounted = await buildah('mount', container);
  }, BUILD_MS);
  afterAll(async () => {
    if (container !== undefined) await buildah('rm', container);
    if (IMAGE === undefined) await buildah('rmi', TAG);
  });

  /** Runs a command of the image to its end. */
  async function tryCommand(command: readonly string[], settings: Readonly<Record<string, string>> = {}) {
    const child = runReadOnly(mounted, { config, command, env: settings });
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => printed.push(String(text)));
    const [code] = await once(child, 'close');
    return { code, printed: printed.join('') };
  }
  const node = () => config.Entrypoint[0] ?? '';

  test('runs as nobody, with a health check', () => {
    expect(config).toMatchObject({
      User: '65532:65532',
      Cmd: ['start'],
      Healthcheck: { Test: expect.arrayContaining(['CMD']) },
    });
  });

  test('says what is in it: npm packages, Node, and the libraries of the base', () => {
    const sbom = JSON.parse(readFileSync(`${mounted}/app/sbom.cdx.json`, 'utf8')) as {
      bomFormat: string;
      components: { name: string; version: string; purl: string }[];
    };
    const purls = sbom.components.map(({ purl }) => purl.replace(/@.*/, ''));
    expect(sbom.bomFormat).toBe('CycloneDX');
    expect(purls).toEqual(
      expect.arrayContaining(['pkg:npm/hono', 'pkg:npm/node', 'pkg:npm/viem', 'pkg:deb/debian/libc6']),
    );
    expect(purls).not.toEqual(expect.arrayContaining(['pkg:npm/vitest']));
  });

  test('serves on a root that nobody can write to, and its health check sees that', async () => {
    const settings = { STAGE: 'dev', HOST: '127.0.0.1', PORT: '0', METRICS_HOST: '127.0.0.1' };
    const server = runReadOnly(mounted, { config, command: [...config.Entrypoint, ...config.Cmd], env: settings });
    try {
      const address = Promise.withResolvers<string>();
      const printed: string[] = [];
      for (const stream of [server.stdout, server.stderr])
        createInterface({ input: stream as NonNullable<typeof stream> }).on('line', (line) => {
          printed.push(line);
          const found = /"address":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
          if (found !== undefined) address.resolve(found);
        });
      server.once('close', (code) => address.reject(new Error(`ended with ${code}:\n${printed.join('\n')}`)));
      const url = await address.promise;
      await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
      expect((await fetch(`${url}/console`)).status).toBe(200);
      const check = config.Healthcheck.Test.slice(1);
      expect((await tryCommand(check, { HEALTH_URL: `${url}/health` })).code).toBe(0);
      expect((await tryCommand(check, { HEALTH_URL: 'http://127.0.0.1:1/health' })).code).toBe(1);
    } finally {
      server.kill('SIGTERM');
      expect((await once(server, 'close'))[0]).toBe(0);
    }
  });

  test('nothing of it can be changed from inside', async () => {
    const write = "require('node:fs').writeFileSync('/app/bin/x', '')";
    expect((await tryCommand([node(), '-e', write])).printed).toContain('EROFS');
  });

  test.each(['relayer', 'watchtower', 'payments', 'gas-monitor'])('has the program %s', async (program) => {
    const { code, printed } = await tryCommand([...config.Entrypoint, program, '--help']);
    expect([code, printed]).toEqual([0, expect.stringContaining('RPC_URL')]);
  });
});

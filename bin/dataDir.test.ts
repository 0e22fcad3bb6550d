import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { drawSome } from '@prism-gateway/testing/test-size';
import { expect, test } from 'vitest';
import { type Program, programs } from './programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Longer than any of them takes to say so on a busy machine, in milliseconds: one that does not end is ended. */
const TIMEOUT_MS = 60_000;
const NOBODY = 'http://127.0.0.1:1';
const ADDRESS = `0x${'5f'.repeat(20)}`;
const KEY = { RELAYER_PRIVATE_KEY: `0x${'01'.repeat(32)}`, RPC_URL: NOBODY };
const CHAIN = { ...KEY, CHAIN_NAME: 'eip155:31337', FORWARDER_ADDRESS: ADDRESS, GATEWAY_URL: NOBODY };
const CONTRACTS = { EXCHANGE_ADDRESS: ADDRESS, CREDIT_TOKEN_ADDRESS: ADDRESS, STABLECOIN_ADDRESS: ADDRESS };

/** The settings that each program with a `DATA_DIR` needs beside it, and how it ends. */
const KEEPERS: Readonly<Partial<Record<keyof typeof programs, readonly [Readonly<Record<string, string>>, number]>>> = {
  start: [{ PORT: '0', METRICS_PORT: '0' }, 1],
  relayer: [{ ...CHAIN, CREDITS_PER_ETH: '1' }, 1],
  watchtower: [CHAIN, 2],
  payments: [{ ...KEY, ...CONTRACTS, FRONTEND_URL: NOBODY, RELAYER_SECRET: 'a secret of this test only' }, 1],
  'gas-monitor': [KEY, 1],
  doctor: [{ PORT: '0', METRICS_PORT: '0' }, 1],
};

/** Runs a program as its launcher does, with these settings alone. */
function run(name: string, settings: Readonly<Record<string, string>>) {
  const { steps } = (programs as Readonly<Record<string, Program>>)[name] ?? { steps: [] };
  const { file = '', args = [] } = steps.at(-1) ?? {};
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, METRICS_PORT: 'off', ...settings };
  return new Promise<{ code: unknown; said: string }>((resolve) => {
    const options = { cwd: root, env, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, said: `${stdout}${stderr}` }),
    );
  });
}

// Below /proc nobody may make a folder, and Node's own way of making several levels never says so.
const cases = drawSome(Object.entries(KEEPERS), { of: 'programs that keep something', small: 2 });
test.runIf(process.platform === 'linux').each(cases)(
  '%s says at once that it cannot make its DATA_DIR',
  async (name, [settings, status]) => {
    const { code, said } = await run(name, { ...settings, DATA_DIR: '/proc/prism/data' });
    expect({ code, said }).toEqual({ code: status, said: expect.stringMatching(/\/proc\/prism\/data/) });
    expect(said).toMatch(/cannot be made|DATA_DIR/);
    expect(said).not.toMatch(/\n {4}at /);
  },
);

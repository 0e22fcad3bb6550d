import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cloudAbi, type Deployment } from '@prism-gateway/contracts';
import { createPublicClient, http } from 'viem';
import { afterAll, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('./devnet.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'devnet-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('starts a chain, deploys, says where, and ends on Ctrl-C', async () => {
  const out = join(folder, 'deep', 'devnet.json');
  const child = spawn(process.execPath, [entry, '--port', '0', '--out', out], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const printed: string[] = [];
    for await (const line of createInterface({ input: child.stdout! })) {
      printed.push(line);
      if (line.startsWith('Written to')) break;
    }
    const written = JSON.parse(readFileSync(out, 'utf8')) as Deployment & { rpcUrl: string };
    expect(printed.join('\n')).toContain(written.forwarder);
    expect(printed.join('\n')).toContain(written.rpcUrl);
    const client = createPublicClient({ transport: http(written.rpcUrl) });
    const read = { address: written.cloud, abi: cloudAbi, functionName: 'forwarder' } as const;
    expect(await client.readContract(read)).toBe(written.forwarder);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
    await expect(client.getChainId()).rejects.toThrow();
  } finally {
    child.kill('SIGKILL');
  }
});

it('says the same as JSON', async () => {
  const out = join(folder, 'json.json');
  const args = [entry, '--port', '0', '--out', out, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface({ input: child.stdout! }), 'line');
    const { rpcUrl, contracts, accounts, file } = JSON.parse(line);
    expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual({ rpcUrl, ...contracts });
    expect(accounts).toHaveLength(10);
    expect(file).toBe(out);
    child.kill('SIGTERM');
    await once(child, 'close');
  } finally {
    child.kill('SIGKILL');
  }
});

it.each([
  [['--port', 'eighty'], '--port takes a whole number from 0 to 65535, not "eighty".'],
  [['--block-time-ms', '0'], '--block-time-ms takes a whole number from 1 to 3600000, not "0".'],
  [['--prot', '1'], 'There is no option --prot.'],
])('says in one sentence what is wrong with %j', async (args, sentence) => {
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  expect(await once(child, 'close')).toEqual([2, null]);
  expect(said).toContain(sentence);
  expect(said.trim().split('\n')).toHaveLength(1);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createPublicClient, http } from 'viem';
import { afterAll, expect, it } from 'vitest';
import type { Deployment } from '../deployContracts.ts';
import { cloudAbi } from '../generated/cloudAbi.ts';

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

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runServer } from '../process/runServer.ts';

const version1 = readFileSync(new URL('./version1.sql', import.meta.url), 'utf8');
const SIGNER = '0x52908400098527886E0F7030069857D2E4169EE7';

let dataDir: string;
let gateway: RunningGateway | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'prism-upgrade-'));
});
afterEach(async () => {
  await gateway?.kill();
  gateway = undefined;
  rmSync(dataDir, { recursive: true });
});

function change(sql: string): void {
  const database = new DatabaseSync(join(dataDir, 'gateway-dev.db'));
  database.exec(sql);
  database.close();
}

// Shows STORE-8.
test('the data folder of the first version opens with all that is in it', async () => {
  change(version1);
  // Old ended requests are kept, and the pending one is of a day to come.
  gateway = await startGateway({ dataDir });
  // Whatever the gateway answers, the expectations below look at it.
  const read = async (path: string, headers = {}) =>
    (await (await fetch(`${gateway?.url}${path}`, { headers })).json()) as Record<
      string,
      { [field: string]: unknown }[]
    >;
  const { items } = await read(`/requests?signer=${SIGNER}`);
  expect(items?.map(({ status }) => status)).toEqual(['processing', 'success', 'failed', 'pending']);
  expect(items?.[2]).toMatchObject({ errorMessage: 'nonce is used', params: { relayerFee: '0' } });
  const { relayers } = await read('/admin/relayers', { 'x-admin-key': gateway.adminKey });
  expect(relayers).toMatchObject([{ label: 'first' }]);
  expect(await read('/ready')).toMatchObject({});
});

// Shows STORE-6.
test("a newer version's data folder is refused in one sentence, and left as it is", async () => {
  change(version1);
  change('UPDATE schema_versions SET version = 1000');
  const { code, stderr } = await runServer({ DATA_DIR: dataDir, PORT: '0' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Prism Gateway could not start\. .*schema is version 1000.*start a newer version.*\n$/);
});

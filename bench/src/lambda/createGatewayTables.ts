import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('../../../packages/gateway/scripts/createTables.ts', import.meta.url));

/** Creates the gateway's tables by its own command. @param env - where and with which keys */
export async function createGatewayTables(env: Readonly<Record<string, string>>): Promise<void> {
  await promisify(execFile)(process.execPath, [SCRIPT], { env: { ...env, STORE: 'dynamodb' } });
}

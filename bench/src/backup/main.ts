/** `npm run bench -- backup [--quick]`: how long a backup under load takes, and what it costs those who post meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../packages/gateway/scripts/measureBackup.ts', import.meta.url));
const child = spawn(process.execPath, [script, ...process.argv.slice(3)], { stdio: 'inherit' });
const [code] = await once(child, 'close');
process.exitCode = code ?? 1;

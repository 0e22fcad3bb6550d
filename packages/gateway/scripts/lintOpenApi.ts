/** Lints the OpenAPI document as CI does: offline, by the rules of redocly.yaml. Ends with the linter's exit code. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDevelopmentDocument } from './developmentDocument.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'prism-openapi-'));
try {
  const file = join(directory, 'openapi.json');
  writeFileSync(file, JSON.stringify(createDevelopmentDocument(), null, 2));
  const args = [
    join(root, 'node_modules/@redocly/cli/bin/cli.js'),
    'lint',
    file,
    `--config=${join(root, 'redocly.yaml')}`,
  ];
  // Neither usage data nor a look for a newer version leaves the machine.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

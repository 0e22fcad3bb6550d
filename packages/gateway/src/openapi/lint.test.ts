import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiRig } from '../../test/rigs/openApiRig.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const REDOCLY = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
/** Neither usage data nor a look for a newer version leaves the machine. */
const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

interface LintReport {
  readonly totals: { readonly errors: number; readonly warnings: number; readonly ignored: number };
  readonly problems: readonly { readonly ruleId: string; readonly message: string; readonly location: unknown }[];
}

describe('the OpenAPI document', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'prism-openapi-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function lint(document: unknown): Promise<LintReport> {
    const file = join(directory, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const args = [
      REDOCLY,
      'lint',
      file,
      '--format=json',
      `--config=${join(ROOT, 'redocly.yaml')}`,
      '--max-problems=20',
    ];
    const env = { PATH: process.env.PATH, HOME: directory, ...OFFLINE };
    // It ends with 1 where it finds errors; what it found is on its output all the same.
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env }).catch(
      (error: { stdout: string }) => error,
    );
    return JSON.parse(stdout);
  }

  it('is valid OpenAPI 3.1, and the strict linter finds nothing', async () => {
    const { totals, problems } = await lint(createOpenApiRig().document);
    expect(problems).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
  });

  it('would not pass with an example that does not fit its schema', async () => {
    const { document } = createOpenApiRig();
    const body = document.paths['/storage/sign']?.post?.requestBody?.content['application/json']?.examples?.put;
    Object.assign(body?.value as object, { operation: 'list' });
    const { problems } = await lint(document);
    expect(problems.map(({ ruleId }) => ruleId)).toContain('no-invalid-media-type-examples');
  });
});

import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EXAMPLE_SETTINGS } from '../rig/exampleSettings.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { synthesize } from './synthesize.ts';

const main = join(import.meta.dirname, 'main.ts');

/** Runs the program. @returns its exit status and what it printed */
async function run(...args: string[]) {
  try {
    return { status: 0, ...(await promisify(execFile)(process.execPath, [main, ...args])) };
  } catch (error) {
    // What execFile rejects with.
    const { code, stdout, stderr } = error as {
      readonly code: number;
      readonly stdout: string;
      readonly stderr: string;
    };
    return { status: code, stdout, stderr };
  }
}

describe('the program', () => {
  it('helps', async () => {
    const { status, stdout, stderr } = await run('deploy', '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('npm run deploy');
  });

  it('names what is missing, in plain words', async () => {
    const { status, stdout, stderr } = await run('deploy', '--stage', 'prod', '--settings', '/dev/null');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Bad settings:\n {2}REGION: /);
    expect(stderr).not.toMatch(/^ +at /m);
    expect((await run('synth', '--nothing')).status).toBe(1);
  });

  it('writes the template, and says what it costs', async () => {
    const { status, stdout } = await run('synth');
    expect(stdout).toMatch(/USD a million requests/);
    expect(status).toBe(0);
  });

  it('asks for the bundle before it synthesises', async () => {
    const nowhere = join(tmpdir(), 'prism-no-bundle');
    await expect(synthesize(parseStageSettings(EXAMPLE_SETTINGS.dev), nowhere)).rejects.toMatchObject({
      code: 'BUNDLE_MISSING',
      message: expect.stringContaining('npx prism build:lambda'),
    });
  });
});

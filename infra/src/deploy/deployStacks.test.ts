import { describe, expect, it } from 'vitest';
import { EXAMPLE_SETTINGS, type Variant } from '../rig/exampleSettings.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import type { StackPart } from '../stack/createGatewayApp.ts';
import { deployStacks } from './deployStacks.ts';
import type { StackControl } from './stackControl.ts';

const SECRET = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:origin-AbCdEf';
const OUTPUTS: Readonly<Record<StackPart, Readonly<Record<string, string>>>> = {
  Data: { OriginSecretArn: SECRET },
  Service: { Url: 'https://f.lambda-url.example', Host: 'f.lambda-url.example' },
  Edge: { Url: 'https://api.example.org' },
};

interface World {
  /** Status by part; absent: there is no such stack. */
  readonly statuses?: Readonly<Partial<Record<StackPart, string>>>;
  readonly isProtected?: boolean;
  /** The part that cannot be deployed. */
  readonly failing?: StackPart;
  /** Result of deleting, and of continuing a roll-back; default success. */
  readonly mendedStatus?: string;
  /** `--now`. */
  readonly now?: boolean;
}

/** Deploys onto stacks in given states. @returns what was done to them, and what came of it */
async function deployOnto(
  variant: Variant,
  { statuses: given = {}, isProtected = false, failing, mendedStatus, now = false }: World = {},
) {
  const statuses: Partial<Record<StackPart, string>> = { ...given };
  const acts: string[] = [];
  const set = (part: StackPart, status: string | undefined) => {
    if (status === undefined) delete statuses[part];
    else statuses[part] = status;
  };
  const control: StackControl = {
    async describe(part) {
      const status = statuses[part];
      return status === undefined ? undefined : { status, isProtected, outputs: OUTPUTS[part] };
    },
    async unprotect(part) {
      acts.push(`unprotect ${part}`);
    },
    async delete(part) {
      acts.push(`delete ${part}`);
      set(part, mendedStatus);
    },
    async continueRollback(part) {
      acts.push(`continue ${part}`);
      set(part, mendedStatus ?? 'UPDATE_ROLLBACK_COMPLETE');
    },
    async deploy(part, parameters) {
      const written = Object.entries(parameters).map(([name, value]) => ` ${name}=${value}`);
      acts.push(`deploy ${part}${written.join('')}`);
      if (part !== failing) set(part, 'UPDATE_COMPLETE');
      return part !== failing;
    },
  };
  const settings = parseStageSettings(EXAMPLE_SETTINGS[variant]);
  const deployed = await deployStacks({ control, settings, now, say: () => undefined }).catch((error) => error.message);
  return { acts, deployed };
}

const EDGE = `deploy Edge OriginHost=f.lambda-url.example OriginHeaderArn=${SECRET.replace('eu-central-1', 'us-east-1')}`;
const COMPLETE = { Data: 'CREATE_COMPLETE', Service: 'UPDATE_COMPLETE', Edge: 'UPDATE_ROLLBACK_COMPLETE' };
const IN_STEPS = ' ReleaseMode=CodeDeployDefault.LambdaCanary10Percent10Minutes';
const AT_ONCE = ' ReleaseMode=CodeDeployDefault.LambdaAllAtOnce';
const EDGE_URL = ' EdgeUrl=https://api.example.org';
const AGAIN = ['deploy Data Protection=on', EDGE, `deploy Service${IN_STEPS}${EDGE_URL}`];
/** There is no service yet whose address the edge could know. */
const FIRST = ['deploy Data Protection=on', `deploy Service${AT_ONCE}`, EDGE, `deploy Service${AT_ONCE}${EDGE_URL}`];

describe('a deployment', () => {
  it('makes the data of prod first, and protects them once they are whole', async () => {
    const acts = ['deploy Data Protection=off', ...FIRST];
    expect(await deployOnto('prod')).toEqual({ acts, deployed: { url: 'https://api.example.org' } });
  });

  it('makes two stacks of dev, which protect nothing', async () => {
    const acts = ['deploy Data', `deploy Service${AT_ONCE}`];
    expect(await deployOnto('dev')).toEqual({ acts, deployed: { url: 'https://f.lambda-url.example' } });
  });

  it('brings complete stacks up to date, the edge before the service, and mends nothing', async () => {
    expect((await deployOnto('prod', { statuses: COMPLETE })).acts).toEqual(AGAIN);
  });

  it('moves all calls at once with --now', async () => {
    const { acts } = await deployOnto('prod', { statuses: COMPLETE, now: true });
    expect(acts.at(-1)).toBe(`deploy Service${AT_ONCE}${EDGE_URL}`);
  });

  it.each([
    ['Data', AGAIN.slice(0, 1)],
    ['Edge', AGAIN.slice(0, 2)],
    ['Service', AGAIN],
  ] as const)('ends at a stack that fails: %s', async (failing, acts) => {
    expect(await deployOnto('prod', { statuses: COMPLETE, failing })).toEqual({ acts, deployed: undefined });
  });

  it('does not protect data that could not be made', async () => {
    const acts = ['deploy Data Protection=off'];
    expect(await deployOnto('prod', { failing: 'Data' })).toEqual({ acts, deployed: undefined });
  });
});

// Shows AWS-4.
describe.each(['Data', 'Service', 'Edge'] as const)('what an attempt has left of %s', (part) => {
  /** Acts on this part that come right before it is deployed. */
  const mend = (...acts: string[]) => {
    const isMadeAnew = acts[0] !== `continue ${part}`;
    const again = part === 'Service' && isMadeAnew ? FIRST : AGAIN;
    const all = part === 'Data' && isMadeAnew ? ['deploy Data Protection=off', ...again] : again;
    // The service is looked at first, for its address.
    const at = part === 'Service' ? 1 : all.findIndex((act) => act.startsWith(`deploy ${part}`));
    return all.toSpliced(at, 0, ...acts);
  };
  const left = (status: string, world: World = {}) =>
    deployOnto('prod', { statuses: { ...COMPLETE, [part]: status }, ...world });

  it.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'])(
    'is deleted, protection or not, if it was never complete: %s',
    async (status) => {
      expect((await left(status)).acts).toEqual(mend(`delete ${part}`));
      const { acts } = await left(status, { isProtected: true });
      expect(acts).toEqual(mend(`unprotect ${part}`, `delete ${part}`));
    },
  );

  it('is rolled back to its end if that got stuck', async () => {
    expect((await left('UPDATE_ROLLBACK_FAILED')).acts).toEqual(mend(`continue ${part}`));
  });

  it('is made anew if it is a change set that was never run', async () => {
    expect((await left('REVIEW_IN_PROGRESS')).acts).toEqual(mend());
  });

  it.each([
    ['UPDATE_IN_PROGRESS', {}, 'UPDATE_IN_PROGRESS. Somebody else is at work on it'],
    ['ROLLBACK_COMPLETE', { mendedStatus: 'DELETE_FAILED' }, "DELETE_FAILED. See the stack's events"],
    ['UPDATE_ROLLBACK_FAILED', { mendedStatus: 'UPDATE_ROLLBACK_FAILED' }, "UPDATE_ROLLBACK_FAILED. See the stack's"],
  ] as const)('is left alone if there is no way on: %s', async (status, world, reported) => {
    const { acts, deployed } = await left(status, world);
    expect(deployed).toContain(`The stack ${part} is in ${reported}`);
    expect(acts.some((act) => act.startsWith(`deploy ${part}`))).toBe(false);
  });
});

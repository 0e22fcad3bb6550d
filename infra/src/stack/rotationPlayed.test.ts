import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, expect, it } from 'vitest';
import { createOriginGuard, type OriginGuard } from '../../../packages/gateway/src/entry/lambda/createOriginGuard.ts';
import { deployStacks } from '../deploy/deployStacks.ts';
import { createBundleStandIn } from '../rig/bundleStandIn.ts';
import { EXAMPLE_SETTINGS } from '../rig/exampleSettings.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { createGatewayApp, type StackPart } from './createGatewayApp.ts';

type Revision = 'before' | 'both' | 'new';

/** The parts of a resource that CloudFormation compares: it reads a secret again only if one of them differs. */
type Compared = Readonly<Record<StackPart, string>>;

const [OLD, NEW] = ['o'.repeat(48), 'n'.repeat(48)];

function synthesize(secretsRevision: Revision): Compared {
  using standIn = createBundleStandIn();
  const { bundleDirectory, hookDirectory, webhooksDirectory } = standIn;
  const settings = parseStageSettings({ ...EXAMPLE_SETTINGS.prod, SECRETS_REVISION: secretsRevision });
  const outputDirectory = standIn.outputDirectory('out');
  const app = createGatewayApp({ settings, bundleDirectory, hookDirectory, webhooksDirectory, outputDirectory });
  const compared = (part: StackPart, type: string) => {
    const stack = app.node.findChild(part);
    if (!Stack.isStack(stack)) throw new Error(`${part} is no stack`);
    return JSON.stringify(Template.fromStack(stack).findResources(type));
  };
  return {
    Data: '',
    Edge: compared('Edge', 'AWS::CloudFront::Distribution'),
    Service: compared('Service', 'AWS::Lambda::Version'),
  };
}

/** A stage that runs: what the edge sends, and the versions of the function that answer. */
function startWorld(first: Compared) {
  let secret = OLD;
  let compared = first;
  let sent = secret;
  let answering: readonly OriginGuard[] = [createOriginGuard([secret])];
  const refused: string[] = [];
  function call(when: string): void {
    const headers = [['x-origin-secret', sent] as const];
    for (const guard of answering)
      if ('refusal' in guard({ method: 'GET', path: '/ready', headers, peerAddress: '192.0.2.1' })) refused.push(when);
  }
  function apply(part: StackPart, next: Compared): void {
    if (next[part] === compared[part]) return;
    compared = { ...compared, [part]: next[part] };
    if (part === 'Edge') sent = secret;
    if (part !== 'Service') return;
    const fresh = createOriginGuard(secret.split(','));
    // For ten minutes both versions answer.
    answering = [...answering.slice(-1), fresh];
    call('during the release');
    answering = [fresh];
  }
  return {
    refused,
    put(value: string) {
      secret = value;
      call(`${value} stored`);
    },
    async deploy(next: Compared) {
      const outputs = { Url: 'https://a.example', Host: 'f.example', OriginSecretArn: 'a:b:c:d:e' };
      await deployStacks({
        settings: { stage: 'prod', edge: { ratePerAddress: 400, trustedAddresses: [] } },
        ...{ now: false, say: () => undefined },
        control: {
          describe: async () => ({ status: 'UPDATE_COMPLETE', isProtected: true, outputs }),
          async deploy(part) {
            apply(part, next);
            call(`${part} deployed`);
            return true;
          },
          unprotect: async () => undefined,
          delete: async () => undefined,
          continueRollback: async () => undefined,
        },
      });
    },
  };
}

let templates: Readonly<Record<Revision, Compared>>;
beforeAll(() => {
  templates = { before: synthesize('before'), both: synthesize('both'), new: synthesize('new') };
});

// Shows AWS-5.
it('rotating the origin secret refuses no call, at no step', async () => {
  const world = startWorld(templates.before);
  world.put(`${NEW},${OLD}`);
  await world.deploy(templates.both);
  world.put(NEW);
  await world.deploy(templates.new);
  expect(world.refused).toEqual([]);
});

it('takes two deployments: by one alone the edge and the versions would not know each other', async () => {
  const world = startWorld(templates.before);
  world.put(NEW);
  await world.deploy(templates.new);
  expect(world.refused).toEqual(['Edge deployed', 'during the release']);
});

it('is nothing to CloudFormation while the revision is the same', async () => {
  const world = startWorld(templates.before);
  world.put(NEW);
  await world.deploy(templates.before);
  expect(world.refused).toEqual([]);
});

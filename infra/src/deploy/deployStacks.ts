import { EDGE_REGION, type StageSettings } from '../settings/stageSettings.ts';
import { EDGE_PARAMETERS } from '../stack/addDistribution.ts';
import { RELEASE_MODES, RELEASE_PARAMETER } from '../stack/addRelease.ts';
import { PROTECTION_PARAMETER } from '../stack/addTables.ts';
import { EDGE_URL_PARAMETER, type StackPart } from '../stack/createGatewayApp.ts';
import { repairStack } from './repairStack.ts';
import type { StackControl } from './stackControl.ts';

type Outputs = Readonly<Record<string, string>>;

interface Deployed {
  /** Where clients call the gateway. */
  readonly url: string;
}

interface DeployContext {
  readonly control: StackControl;
  readonly settings: Pick<StageSettings, 'stage' | 'edge'>;
  /** Whether a new version gets all calls at once, once the hook has checked it: what revokes or rolls back waits for nobody. */
  readonly now: boolean;
  /** Says what is done next. */
  readonly say: (line: string) => void;
}

async function deployPart(
  { control, say }: DeployContext,
  part: StackPart,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Outputs | undefined> {
  say(`Stack ${part}`);
  if (!(await control.deploy(part, parameters))) return undefined;
  return (await control.describe(part))?.outputs;
}

/**
 * A table that may not be deleted could not be taken back either if the first attempt fails, so that its stack is made
 * in two steps: all that it holds, then its protection.
 */
async function deployData(context: DeployContext): Promise<Outputs | undefined> {
  const existing = await repairStack(context.control, 'Data');
  if (context.settings.stage !== 'prod') return await deployPart(context, 'Data');
  if (existing === undefined) {
    const made = await deployPart(context, 'Data', { [PROTECTION_PARAMETER]: 'off' });
    if (made === undefined) return undefined;
  }
  return await deployPart(context, 'Data', { [PROTECTION_PARAMETER]: 'on' });
}

/** The edge's region has its own copy of the origin secret, which differs in nothing else. */
const inEdgeRegion = (arn: string) => arn.split(':').with(3, EDGE_REGION).join(':');

/**
 * Deploys a stage's stacks, and mends first what an earlier attempt has left of them. The same call does so from whatever state it finds.
 * The edge comes before the service: while an origin secret is rotated it sends `new,old`, of which the versions before and after know
 * one. Only if there is no service yet is that made first, since the edge must know its address, and once more when it can be given the
 * edge's.
 *
 * @returns undefined if a stack could not be deployed; CloudFormation has rolled it back, and the same call tries again
 * @throws StackStuckError (`STACK_STUCK`)
 */
export async function deployStacks(context: DeployContext): Promise<Deployed | undefined> {
  const { control, settings, now } = context;
  const data = await deployData(context);
  if (data === undefined) return undefined;
  const existing = await repairStack(control, 'Service');
  const release = { [RELEASE_PARAMETER]: now || existing === undefined ? RELEASE_MODES.now : RELEASE_MODES.inSteps };
  if (settings.edge === undefined) return await deployedAt(deployPart(context, 'Service', release));
  const Host = (existing?.outputs ?? (await deployPart(context, 'Service', release)))?.Host;
  if (Host === undefined) return undefined;
  await repairStack(control, 'Edge');
  const edge = await deployPart(context, 'Edge', {
    [EDGE_PARAMETERS.originHost]: Host,
    [EDGE_PARAMETERS.originSecretArn]: inEdgeRegion(data.OriginSecretArn ?? ''),
  });
  if (edge?.Url === undefined) return undefined;
  const service = await deployPart(context, 'Service', { ...release, [EDGE_URL_PARAMETER]: edge.Url });
  return service && { url: edge.Url };
}

async function deployedAt(outputs: Promise<Outputs | undefined>): Promise<Deployed | undefined> {
  const url = (await outputs)?.Url;
  return url === undefined ? undefined : { url };
}

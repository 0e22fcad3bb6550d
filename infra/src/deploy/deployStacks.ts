import { EDGE_REGION, type StageSettings } from '../settings/stageSettings.ts';
import { EDGE_PARAMETERS } from '../stack/addDistribution.ts';
import { PROTECTION_PARAMETER } from '../stack/addTables.ts';
import type { StackPart } from '../stack/createGatewayApp.ts';
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
 * A table that may not be deleted could not be taken back either where the first attempt fails, so that its stack is made
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
 * Deploys a stage's stacks, each after those that it needs, and mends first what an earlier attempt has left of it. The same call
 * does so from whatever state it finds.
 *
 * @returns undefined where a stack could not be deployed; CloudFormation has rolled it back, and the same call tries again
 * @throws StackStuckError (`STACK_STUCK`)
 */
export async function deployStacks(context: DeployContext): Promise<Deployed | undefined> {
  const { control, settings } = context;
  const data = await deployData(context);
  if (data === undefined) return undefined;
  await repairStack(control, 'Service');
  const service = await deployPart(context, 'Service');
  if (service?.Url === undefined) return undefined;
  if (settings.edge === undefined) return { url: service.Url };
  await repairStack(control, 'Edge');
  const edge = await deployPart(context, 'Edge', {
    [EDGE_PARAMETERS.originHost]: service.ApiHost ?? '',
    [EDGE_PARAMETERS.originSecretArn]: inEdgeRegion(data.OriginSecretArn ?? ''),
  });
  return edge?.Url === undefined ? undefined : { url: edge.Url };
}

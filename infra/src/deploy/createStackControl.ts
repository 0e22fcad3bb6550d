import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  CloudFormationClient,
  ContinueUpdateRollbackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
  type Stack,
  UpdateTerminationProtectionCommand,
  waitUntilStackDeleteComplete,
  waitUntilStackRollbackComplete,
} from '@aws-sdk/client-cloudformation';
import { places } from '../entry/places.ts';
import { EDGE_REGION, type StageSettings } from '../settings/stageSettings.ts';
import { type StackPart, stackNameOf } from '../stack/createGatewayApp.ts';
import type { StackControl, StackState } from './stackControl.ts';

interface ControlOptions {
  readonly settings: Pick<StageSettings, 'stage' | 'region'>;
  /** Directory of the synthesised app. */
  readonly assembly: string;
  /** Deploy without asking. */
  readonly yes: boolean;
}

/** CloudFront's stack takes longest to go: some minutes. */
const WAIT_SECONDS = 3600;

/** Runs the CDK's command. @returns its exit status */
export async function runCdk(args: readonly string[]): Promise<number> {
  const child = spawn(places.cdk, [...args, '--no-notices', '--no-version-reporting'], { stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  return typeof status === 'number' ? status : 1;
}

const isAbsent = (error: unknown) =>
  error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message);

/** Reads a stack's state. @returns undefined if there is none */
export async function describeStack(client: CloudFormationClient, name: string): Promise<Stack | undefined> {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName: name }))).Stacks?.[0];
  } catch (error) {
    // There is no error of a type of its own for it.
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function stateOf({ StackStatus, EnableTerminationProtection, Outputs = [] }: Stack): StackState {
  const outputs = Outputs.flatMap(({ OutputKey, OutputValue }) =>
    OutputKey === undefined || OutputValue === undefined ? [] : [[OutputKey, OutputValue] as const],
  );
  return {
    status: StackStatus ?? 'UNKNOWN',
    isProtected: EnableTerminationProtection ?? false,
    outputs: Object.fromEntries(outputs),
  };
}

/** Ends when the act has ended, well or not: what has come of it is looked up afterwards. */
async function waitOut(wait: Promise<unknown>): Promise<void> {
  await wait.catch(() => undefined);
}

/** Controls a stage's stacks by CloudFormation's API and the CDK's command. */
export function createStackControl({ settings, assembly, yes }: ControlOptions): StackControl {
  const { stage, region } = settings;
  const clientOf = (part: StackPart) =>
    new CloudFormationClient(part === 'Edge' ? { region: EDGE_REGION } : region === undefined ? {} : { region });
  const clients = { Data: clientOf('Data'), Service: clientOf('Service'), Edge: clientOf('Edge') };
  const nameOf = (part: StackPart) => stackNameOf(stage, part);
  const waiting = (part: StackPart) => ({ client: clients[part], maxWaitTime: WAIT_SECONDS });

  return {
    async describe(part) {
      const stack = await describeStack(clients[part], nameOf(part));
      return stack && stateOf(stack);
    },
    async unprotect(part) {
      const request = { StackName: nameOf(part), EnableTerminationProtection: false };
      await clients[part].send(new UpdateTerminationProtectionCommand(request));
    },
    async delete(part) {
      // A stack that is gone is found by its id only.
      const StackName = (await describeStack(clients[part], nameOf(part)))?.StackId ?? nameOf(part);
      await clients[part].send(new DeleteStackCommand({ StackName }));
      await waitOut(waitUntilStackDeleteComplete(waiting(part), { StackName }));
    },
    async continueRollback(part) {
      const request = { StackName: nameOf(part) };
      await clients[part].send(new ContinueUpdateRollbackCommand(request));
      await waitOut(waitUntilStackRollbackComplete(waiting(part), request));
    },
    async deploy(part, parameters) {
      const given = Object.entries(parameters).flatMap(([name, value]) => ['--parameters', `${name}=${value}`]);
      const status = await runCdk([
        ...['deploy', part, '--exclusively', '--app', assembly, ...given],
        ...['--require-approval', yes ? 'never' : 'broadening'],
        // Tables and a bucket that belong to no stack: of an installation before, or kept by a stack that was deleted.
        ...(part === 'Data' ? ['--import-existing-resources'] : []),
      ]);
      return status === 0;
    },
  };
}

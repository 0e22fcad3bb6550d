import { createInvokeFetch, type Invoke } from './createInvokeFetch.ts';
import { playCanary } from './playCanary.ts';

/** What CodeDeploy calls the hook with. */
export interface HookEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

interface HookContext {
  readonly invoke: Invoke;
  readonly readAdminKey: () => Promise<string>;
  /** @returns undefined where there is no edge */
  readonly readOriginSecret: () => Promise<string | undefined>;
  /** Tells CodeDeploy. Until it is told, it waits, and counts silence as failure after an hour. */
  readonly tell: (event: HookEvent, status: 'Succeeded' | 'Failed') => Promise<void>;
  readonly log: (line: string) => void;
}

/** Of `new,old` either is valid; the first outlives the other. */
const firstOf = (secret: string | undefined) => secret?.split(',')[0]?.trim();

/**
 * Makes the hook that CodeDeploy runs before a new version gets its first call: what does not pass the canary gets none.
 *
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html
 */
export function createHook({ invoke, readAdminKey, readOriginSecret, tell, log }: HookContext) {
  async function judge(): Promise<'Succeeded' | 'Failed'> {
    try {
      const [adminKey = '', originSecret] = [firstOf(await readAdminKey()), firstOf(await readOriginSecret())];
      await playCanary({ fetch: createInvokeFetch({ invoke, originSecret }), adminKey });
      return 'Succeeded';
    } catch (error) {
      log(
        JSON.stringify({
          level: 'error',
          code: 'CANARY_FAILED',
          reason: error instanceof Error ? error.message : 'unknown',
        }),
      );
      return 'Failed';
    }
  }
  return async function hook(event: HookEvent): Promise<void> {
    await tell(event, await judge());
  };
}

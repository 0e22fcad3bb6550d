import type { StackPart } from '../stack/createGatewayApp.ts';

/** A stack as CloudFormation reports it. */
export interface StackState {
  /** @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
  readonly status: string;
  readonly isProtected: boolean;
  readonly outputs: Readonly<Record<string, string>>;
}

/** How a stage's stacks are looked at, mended and deployed. Each act resolves when it has come to its end, good or bad. */
export interface StackControl {
  /** @returns undefined if there is no such stack */
  describe(part: StackPart): Promise<StackState | undefined>;
  /** Lets a stack be deleted. */
  unprotect(part: StackPart): Promise<void>;
  delete(part: StackPart): Promise<void>;
  /** Goes on with the roll-back of an update that could not be undone. */
  continueRollback(part: StackPart): Promise<void>;
  /** Brings a stack to what was synthesised. @returns whether it succeeded; else CloudFormation has rolled it back */
  deploy(part: StackPart, parameters: Readonly<Record<string, string>>): Promise<boolean>;
}

import type { Stack } from 'aws-cdk-lib';
import type { StageSettings } from '../settings/stageSettings.ts';

/** What every part of the stack is made in and from. */
export interface StackContext {
  readonly stack: Stack;
  readonly settings: StageSettings;
}

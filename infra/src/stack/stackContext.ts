import { RemovalPolicy, type Stack } from 'aws-cdk-lib';
import type { StageSettings } from '../settings/stageSettings.ts';

/** Shared by all parts of a stack. */
export interface StackContext {
  readonly stack: Stack;
  readonly settings: StageSettings;
}

/**
 * What becomes of data when its stack goes. In prod it stays; but a stack whose very creation fails takes along what it has just
 * made, which is empty, so that the next attempt finds no name in use.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
 */
export function dataPolicy({ stage }: StageSettings): RemovalPolicy {
  return stage === 'prod' ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}

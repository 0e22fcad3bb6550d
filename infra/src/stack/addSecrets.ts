import { Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { EDGE_REGION } from '../settings/stageSettings.ts';
import { dataPolicy, type StackContext } from './stackContext.ts';

/** Letters and digits only, so that a key passes through shells and headers as it is: 285 bits. */
const KEY_LENGTH = 48;

/** Secrets that AWS makes at the first deployment; nobody has to choose, carry or paste them. */
export interface GatewaySecrets {
  readonly adminApiKey: Secret;
  readonly cursorSecret: Secret;
  /** Shared by the edge and the function, if there is an edge. */
  readonly originSecret?: Secret;
}

interface SecretPlan {
  readonly id: string;
  readonly description: string;
  /** Why no schedule rotates it. */
  readonly reason: string;
  readonly replicaRegions?: readonly string[];
}

function addSecret(
  { stack, settings }: StackContext,
  { id, description, reason, replicaRegions = [] }: SecretPlan,
): Secret {
  const secret = new Secret(stack, id, {
    description: `Prism Gateway ${settings.stage}: ${description}`,
    // Never change this: CloudFormation would make a new value.
    generateSecretString: { passwordLength: KEY_LENGTH, excludePunctuation: true },
    ...(replicaRegions.length > 0 && { replicaRegions: replicaRegions.map((region) => ({ region })) }),
    removalPolicy: dataPolicy(settings),
  });
  Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason });
  return secret;
}

function addOriginSecret(context: StackContext): Secret {
  const { region } = context.settings;
  return addSecret(context, {
    id: 'OriginSecret',
    description: 'ORIGIN_SECRET, by which the function knows its own CloudFront; one or new,old',
    reason:
      'CloudFront and the function must change it in one order, or every call is refused: it is rotated by hand with two valid at once (docs/operations-aws.md).',
    // CloudFront's stack is there, and reads it there.
    ...(region !== undefined && region !== EDGE_REGION && { replicaRegions: [EDGE_REGION] }),
  });
}

/** Adds the secrets that the gateway needs and no one else hands out. */
export function addSecrets(context: StackContext): GatewaySecrets {
  return {
    adminApiKey: addSecret(context, {
      id: 'AdminApiKey',
      description: 'ADMIN_API_KEY, one key or new,old',
      reason:
        'Administrators hold this key: it is rotated by hand with two keys valid at once (docs/operations-aws.md); a schedule would lock them out.',
    }),
    cursorSecret: addSecret(context, {
      id: 'CursorSecret',
      description: 'CURSOR_SECRET, seals list cursors',
      reason:
        'It only keeps list cursors from being forged, gives access to nothing, and a new one voids every cursor handed out.',
    }),
    ...(context.settings.edge !== undefined && { originSecret: addOriginSecret(context) }),
  };
}

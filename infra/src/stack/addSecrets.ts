import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { StackContext } from './stackContext.ts';

/** Letters and digits only, so that a key passes through shells and headers as it is: 285 bits. */
const KEY_LENGTH = 48;

/** Secrets that AWS makes at the first deployment; nobody has to choose, carry or paste them. */
export interface GatewaySecrets {
  readonly adminApiKey: Secret;
  readonly cursorSecret: Secret;
}

function addSecret({ stack, settings }: StackContext, id: string, description: string): Secret {
  return new Secret(stack, id, {
    description,
    // Never change this: CloudFormation would make a new value.
    generateSecretString: { passwordLength: KEY_LENGTH, excludePunctuation: true },
    removalPolicy: settings.stage === 'prod' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
}

/** Adds the secrets that the gateway needs and no one else hands out. */
export function addSecrets(context: StackContext): GatewaySecrets {
  const { stage } = context.settings;
  const adminApiKey = addSecret(context, 'AdminApiKey', `Prism Gateway ${stage}: ADMIN_API_KEY, one key or new,old`);
  const cursorSecret = addSecret(context, 'CursorSecret', `Prism Gateway ${stage}: CURSOR_SECRET, seals list cursors`);
  Validations.of(adminApiKey).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'Administrators hold this key: it is rotated by hand with two keys valid at once (docs/operations-aws.md); a schedule would lock them out.',
  });
  Validations.of(cursorSecret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'It only keeps list cursors from being forged, gives access to nothing, and a new one voids every cursor handed out.',
  });
  return { adminApiKey, cursorSecret };
}

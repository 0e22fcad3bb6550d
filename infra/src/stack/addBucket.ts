import { Duration, Validations } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  type CorsRule,
  HttpMethods,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { dataPolicy, type StackContext } from './stackContext.ts';

/**
 * Longest lifetime that the gateway gives a presigned URL, in milliseconds. Not the one that is set: S3 itself ends a URL in
 * time, and a second clock beside it that ends it in the same moment would now and then be early.
 *
 * @see docs/specification.md SIGN-7
 */
const MAX_SIGNATURE_AGE_MS = 300_000;
/** The gateway's own default. @see docs/specification.md OBJECT-7 */
const MAX_OBJECT_BYTES = 104_857_600;
/** How long a browser may keep the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = 3600;

/** Any header may be sent: a presigned URL names those that must be. */
function corsRules(origins: readonly string[]): CorsRule[] {
  if (origins.length === 0) return [];
  return [
    {
      allowedOrigins: [...origins],
      allowedMethods: [HttpMethods.GET, HttpMethods.PUT, HttpMethods.HEAD, HttpMethods.DELETE],
      allowedHeaders: ['*'],
      exposedHeaders: ['ETag', 'x-amz-checksum-sha256', 'x-amz-version-id'],
      maxAge: PREFLIGHT_SECONDS,
    },
  ];
}

/** Refuses presigned URLs that are older than any of the gateway's can get, whoever made them, by whatever key. */
function denyOldSignatures(bucket: Bucket): void {
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'DenyOldSignatures',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:*'],
      resources: [bucket.arnForObjects('*')],
      conditions: { NumericGreaterThan: { 's3:signatureAge': String(MAX_SIGNATURE_AGE_MS) } },
    }),
  );
}

/**
 * Adds the bucket of the encrypted objects. Nothing in it is public; what is deleted can be brought back for some days.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/bucket-policy-s3-sigv4-conditions.html
 */
export function addBucket({ stack, settings }: StackContext): Bucket {
  const bucket = new Bucket(stack, 'Bucket', {
    ...(settings.bucketName !== undefined && { bucketName: settings.bucketName }),
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    lifecycleRules: [
      {
        id: 'ForgetDeletedObjects',
        noncurrentVersionExpiration: Duration.days(settings.noncurrentVersionDays),
        expiredObjectDeleteMarker: true,
      },
      {
        // A presigned URL that was asked for without a size takes what S3 takes, 5 GB: what is too large does not stay.
        id: 'RemoveTooLarge',
        objectSizeGreaterThan: Number(settings.gateway.MAX_OBJECT_BYTES ?? MAX_OBJECT_BYTES),
        expiration: Duration.days(1),
        noncurrentVersionExpiration: Duration.days(1),
      },
      { id: 'AbortUploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    cors: corsRules(settings.bucketOrigins),
    removalPolicy: dataPolicy(settings),
  });
  // CloudFormation's schema has it as text, and the library writes a number. The cast: it is the bucket's own resource.
  const size = String(settings.gateway.MAX_OBJECT_BYTES ?? MAX_OBJECT_BYTES);
  (bucket.node.defaultChild as CfnBucket).addPropertyOverride(
    'LifecycleConfiguration.Rules.1.ObjectSizeGreaterThan',
    size,
  );
  denyOldSignatures(bucket);
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'Server access logs hold whole request URIs, which here are presigned URLs with their signatures: those enter no log. CloudTrail data events show who did what where an audit needs it.',
  });
  return bucket;
}

import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CorsRule,
  HttpMethods,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import type { StackContext } from './stackContext.ts';

const MS_PER_SECOND = 1000;
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

/** Refuses presigned URLs that live longer than the gateway's, whoever made them, by whatever key. */
function denyOldSignatures(bucket: Bucket, presignedUrlSeconds: number): void {
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'DenyOldSignatures',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:*'],
      resources: [bucket.arnForObjects('*')],
      conditions: { NumericGreaterThan: { 's3:signatureAge': String(presignedUrlSeconds * MS_PER_SECOND) } },
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
      { id: 'AbortUploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    cors: corsRules(settings.bucketOrigins),
    removalPolicy: settings.stage === 'prod' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  denyOldSignatures(bucket, settings.presignedUrlSeconds);
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'Server access logs hold whole request URIs, which here are presigned URLs with their signatures: those enter no log. CloudTrail data events tell who did what where an audit needs it.',
  });
  return bucket;
}

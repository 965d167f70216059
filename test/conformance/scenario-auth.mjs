import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client';
import { HeadlessProvider } from './headless-provider.mjs';

/** Client credentials by scenario; in all other scenarios a user consents. */
const PROVIDERS = {
  'auth/pre-registration': ({ client_id, client_secret, issuer }) =>
    new HeadlessProvider({ client_id, client_secret, issuer }),
  'auth/client-credentials-jwt': ({ client_id: clientId, private_key_pem: privateKey, signing_algorithm: algorithm }) =>
    new PrivateKeyJwtProvider({ clientId, privateKey, algorithm }),
  'auth/enterprise-managed-authorization': crossApplication,
  'auth/wif-jwt-bearer': workload,
  'auth/dpop': bound,
  'auth/dpop-nonce': bound,
};

/** The `auth` declaration of a server for a scenario. */
export async function authFor(name, context) {
  if (name === 'auth/client-credentials-basic') {
    return { type: 'client_credentials', clientId: context.client_id, clientSecret: context.client_secret };
  }
  const provider = (await PROVIDERS[name]?.(context)) ?? new HeadlessProvider();
  return { type: 'provider', provider };
}

async function bound() {
  return HeadlessProvider.bound(await DpopSession.create());
}

/** Exchanges a token of the enterprise's identity provider for a token of the server (SEP-990). */
function crossApplication(context) {
  const { client_id: clientId, client_secret: clientSecret, idp_client_id, idp_id_token, idp_token_endpoint } = context;
  return new CrossAppAccessProvider({
    clientId,
    clientSecret,
    assertion: async ({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) => {
      const grant = { audience, resource, scope, fetchFn, idToken: idp_id_token, clientId: idp_client_id };
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({ ...grant, tokenEndpoint: idp_token_endpoint });
      return jwtAuthGrant;
    },
  });
}

/** Authenticates with the platform's token of the workload's identity (SEP-1933). */
function workload({ client_id: clientId, valid_jwt }) {
  const provider = new ClientCredentialsProvider({ clientId, clientSecret: '' });
  return Object.assign(provider, {
    clientInformation: () => ({ client_id: clientId }),
    prepareTokenRequest: () =>
      new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: valid_jwt }),
  });
}

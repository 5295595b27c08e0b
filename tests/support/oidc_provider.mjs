// An authorization server of another author: `oidc-provider`, with signed access tokens.
// node oidc_provider.mjs MODULE CLIENTS: prints its address once it listens.
import { createServer } from "node:http";

const { default: Provider } = await import(process.argv[2]);
const clients = JSON.parse(process.argv[3]);
const server = createServer();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients,
  scopes: ["openid", "offline_access", "tools"],
  pkce: { required: () => true },
  rotateRefreshToken: () => true,
  issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
  ttl: { AccessToken: 5, ClientCredentials: 300, Interaction: 600, Session: 600, Grant: 600 },
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: "tools",
        audience: resource,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
server.on("request", provider.callback());
console.log(issuer);

// The TypeScript SDKs as clients: lists, then calls, and prints what came as JSON.
// node mcp_clients.mjs MODULES SDK URL TOKEN CALLS
//   MODULES: a node_modules folder. SDK: `older`, or the revision that the newer SDK is to speak.
//   CALLS: a JSON object, arguments by the tool's name.
const [modules, sdk, url, token, calls] = process.argv.slice(2);
const official = `${modules}/@modelcontextprotocol`;
const who = { name: "typescript", version: "1" };
const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };

async function client() {
  if (sdk === "older") {
    const { Client } = await import(`${official}/sdk/dist/esm/client/index.js`);
    const { StreamableHTTPClientTransport } = await import(
      `${official}/sdk/dist/esm/client/streamableHttp.js`
    );
    const made = new Client(who);
    await made.connect(new StreamableHTTPClientTransport(new URL(url), options));
    return made;
  }
  const { Client, StreamableHTTPClientTransport } = await import(`${official}/client/dist/index.mjs`);
  const mode = sdk === "legacy" ? "legacy" : { pin: sdk };
  const made = new Client(who, { versionNegotiation: { mode } });
  await made.connect(new StreamableHTTPClientTransport(new URL(url), options));
  return made;
}

const talking = await client();
const { tools } = await talking.listTools();
const results = {};
for (const [name, given] of Object.entries(JSON.parse(calls))) {
  results[name] = await talking.callTool({ name, arguments: given });
}
await talking.close();
process.stdout.write(JSON.stringify({ tools: tools.map((one) => one.name), results }));

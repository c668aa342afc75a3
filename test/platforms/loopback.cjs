// Sends every TLS connection of an SDK to the sandbox on this machine, whatever
// host it is for. The SDK still names that host, and still checks the
// certificate against it.
const tls = require('node:tls');

const port = Number(process.env.SANDBOX_TLS_PORT);
const connect = tls.connect;

tls.connect = (...args) => {
  const done = args.find((a) => typeof a === 'function');
  let options = args.find((a) => typeof a === 'object' && a !== null);
  if (typeof args[0] === 'number') {
    options = { host: typeof args[1] === 'string' ? args[1] : undefined, ...options };
  }
  const servername = options.servername || options.host;
  // A socket that is there already has its way behind it.
  const to = options.socket ? {} : { host: '127.0.0.1', port, path: undefined, lookup: undefined };
  return connect({ ...options, servername, ...to }, done);
};

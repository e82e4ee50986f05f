/** The `ws` package with the same native detector as the service: what the socket layer alone is worth. */
import { createRequire } from 'node:module';

import { serve } from '../ws.server.js';

const { Session } = createRequire(import.meta.url)('#addon');

serve((options) => new Session(options));

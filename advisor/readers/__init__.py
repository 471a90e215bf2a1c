"""From files to proposals: these modules know formats and no physics."""

"""The report: one HTML file with everything in it, and its charts as files of their own."""

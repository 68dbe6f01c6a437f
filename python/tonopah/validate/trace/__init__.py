"""A recorded connection beside a simulation of its link: packets or qlog → connection → comparison → page."""
